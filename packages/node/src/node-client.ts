/** The client of one node: calls and subscriptions over streams that reconnect automatically. */
import { type Hash, toHex } from '@kasgres/kaspa';
import { type Logger, untilAborted } from '@kasgres/runtime';
import type { Notification, Op, RequestOf, ResponseOf, Topic } from './calls.ts';
import { decodeBlockResponse, decodeBlocksResponse, decodeVirtualChainResponse } from './decode-responses.ts';
import { NodeUnavailableError } from './errors.ts';
import type { BlocksResponse, RpcBlock, VirtualChainResponse } from './model.ts';
import { ListingConnections, type ListOptions, type UseListing } from './listing-connections.ts';
import type { ListingOp } from './listing-reader.ts';
import { parseNodeAddress } from './node-address.ts';
import { NodeConnection } from './node-connection.ts';
import { decodeResponse } from './envelope.ts';
import { type SubscribeOptions, type Subscription, Subscriptions } from './subscriptions.ts';

export interface NodeClientOptions {
  /** `grpc://host:port` or `host:port`. */
  url: string;
  /**
   * Number of streams, each on a separate connection (default 1). On one stream the node executes
   * calls of the same operation sequentially.
   */
  streams?: number;
  /** Default time limit of a call (30 s). */
  deadlineMs?: number;
  /** A larger message closes the stream (default 1 GiB, the node's own limit). */
  receiveLimitBytes?: number;
  /** Interval of pings (10 s). After three intervals without any data the stream is reopened. */
  heartbeatMs?: number;
  /** The longest pause between attempts to connect (10 s). */
  maxPauseMs?: number;
  logger?: Logger;
}

export interface CallOptions {
  /** Aborting throws the signal's reason, and a later response is ignored. */
  signal?: AbortSignal;
  deadlineMs?: number;
  /** Index of the stream. Defaults to the stream with the fewest pending calls. */
  stream?: number;
}

export class NodeClient {
  readonly #first: NodeConnection;
  readonly #connections: readonly NodeConnection[];
  readonly #listings: ListingConnections;
  readonly #subscriptions: Subscriptions;
  readonly #deadlineMs: number;
  readonly #closing = new AbortController();

  /** Connects in the background. Throws TypeError for a malformed address. */
  constructor(options: NodeClientOptions) {
    const { streams = 1, deadlineMs = 30_000, logger } = options;
    const common = {
      address: parseNodeAddress(options.url),
      receiveLimitBytes: options.receiveLimitBytes ?? 2 ** 30,
      heartbeatMs: options.heartbeatMs ?? 10_000,
      maxPauseMs: options.maxPauseMs ?? 10_000,
    };
    this.#deadlineMs = deadlineMs;
    this.#listings = new ListingConnections(common.address);
    this.#first = new NodeConnection({
      ...common,
      logger,
      onUp: () => this.#subscriptions.renew(),
      onNotification: (envelope) => this.#subscriptions.deliver(envelope),
    });
    // Only the first stream logs: the others are up and lost at the same times.
    const others = Array.from({ length: streams - 1 }, () => new NodeConnection(common));
    this.#connections = [this.#first, ...others];
    this.#subscriptions = new Subscriptions(this.#first, deadlineMs, logger);
  }

  /** Whether the node responds on the first stream. */
  get connected(): boolean {
    return this.#first.up;
  }

  /**
   * Throws the signal's reason if it is aborted, and NodeUnavailableError if the client is closed.
   */
  async waitUntilConnected({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted();
    if (this.#first.up) return;
    const stopped = AbortSignal.any(signal === undefined ? [this.#closing.signal] : [this.#closing.signal, signal]);
    await Promise.race([this.#first.whenUp, untilAborted(stopped)]);
    stopped.throwIfAborted();
  }

  /**
   * Waits for a connection attempt in progress; between attempts it fails at once. Throws
   * NodeRpcError, NodeUnavailableError, NodeProtocolError, or the signal's reason.
   */
  async call<O extends Op>(op: O, request: RequestOf<O>, options: CallOptions = {}): Promise<ResponseOf<O>> {
    return this.callRaw(op, request, (body) => decodeResponse(op, body), options);
  }

  /**
   * Returns the result of `use` for the encoded response message, which may contain an `error`. Its
   * bytes are valid only until `use` returns. Throws as `call` and `use`.
   */
  async callRaw<O extends Op, T>(
    op: O,
    request: RequestOf<O>,
    use: (body: Uint8Array) => T,
    options: CallOptions = {},
  ): Promise<T> {
    const { deadlineMs = this.#deadlineMs, signal } = options;
    return this.#choose(options.stream).request(op, request, use, { deadlineMs, signal });
  }

  /**
   * Lists entries of the mempool over a separate connection, so that a response of any length
   * delays no call. `use` gets the entries as they arrive. Throws NodeResponseTooLargeError, an
   * error of `use`, or as `call`.
   */
  async list<O extends ListingOp, T>(
    op: O,
    request: RequestOf<O>,
    use: UseListing<T>,
    { deadlineMs = this.#deadlineMs, limitBytes }: Partial<ListOptions> & Pick<ListOptions, 'limitBytes'>,
  ): Promise<T> {
    return this.#listings.list(op, request, use, { deadlineMs, limitBytes });
  }

  /**
   * Without `lowHash` it begins at genesis, which must not be requested from a node that has
   * pruned. Throws as `call`.
   */
  async getBlocks(
    request: { lowHash: Hash | undefined; includeBlocks: boolean; includeTransactions: boolean },
    options: CallOptions = {},
  ): Promise<BlocksResponse> {
    const { lowHash, includeBlocks, includeTransactions } = request;
    const message = { lowHash: lowHash === undefined ? '' : toHex(lowHash), includeBlocks, includeTransactions };
    return this.callRaw('getBlocks', message, decodeBlocksResponse, options);
  }

  /** Throws as `call`. */
  async getVirtualChainFromBlock(
    request: { startHash: Hash; includeAcceptedTransactionIds: boolean; minConfirmationCount?: bigint },
    options: CallOptions = {},
  ): Promise<VirtualChainResponse> {
    const message = { ...request, startHash: toHex(request.startHash) };
    return this.callRaw('getVirtualChainFromBlock', message, decodeVirtualChainResponse, options);
  }

  /** Throws as `call`. */
  async getBlock(
    { hash, includeTransactions }: { hash: Hash; includeTransactions: boolean },
    options: CallOptions = {},
  ): Promise<RpcBlock> {
    const message = { hash: toHex(hash), includeTransactions };
    return this.callRaw('getBlock', message, decodeBlockResponse, options);
  }

  /**
   * Subscribes as soon as the node is connected, and again after each reconnect. Notifications are
   * hints only: topics are not ordered, and events during a disconnect are lost.
   */
  subscribe(
    topics: readonly Topic[],
    onNotification: (notification: Notification) => void,
    options: SubscribeOptions = {},
  ): Subscription {
    return this.#subscriptions.add({ ...options, topics, onNotification });
  }

  /** Pending calls fail with NodeUnavailableError. */
  async close(): Promise<void> {
    this.#closing.abort(new NodeUnavailableError('the client was closed'));
    this.#listings.close();
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  #choose(stream: number | undefined): NodeConnection {
    if (stream !== undefined) {
      const connection = this.#connections[stream];
      if (connection === undefined) throw new RangeError(`there is no stream ${stream}`);
      return connection;
    }
    let best = this.#first;
    for (const connection of this.#connections) {
      if (connection.up && (!best.up || connection.load < best.load)) best = connection;
    }
    return best;
  }
}
