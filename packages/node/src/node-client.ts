/** The client of one node: calls, hot calls and subscriptions over several streams that reconnect on their own. */
import { type Hash, toHex } from '@kasgres/kaspa';
import { type Logger, untilAborted } from '@kasgres/runtime';
import type { Notification, Op, RequestOf, ResponseOf, Topic } from './calls.ts';
import { decodeBlockResponse, decodeBlocksResponse, decodeVirtualChainResponse } from './decode-responses.ts';
import { NodeUnavailableError } from './errors.ts';
import type { BlocksResponse, RpcBlock, VirtualChainResponse } from './model.ts';
import { parseNodeAddress } from './node-address.ts';
import { NodeConnection } from './node-connection.ts';
import { decodeResponse } from './envelope.ts';
import { type SubscribeOptions, type Subscription, Subscriptions } from './subscriptions.ts';

export interface NodeClientOptions {
  /** `grpc://host:port` or `host:port`. */
  url: string;
  /**
   * How many streams to open, each on a connection of its own (default 1). The node carries out the calls of one operation
   * one after another on each stream.
   */
  streams?: number;
  /** How long a call may take by default (30 s). */
  deadlineMs?: number;
  /** A message larger than this cuts the stream (default 1 GiB, the node's own limit). */
  receiveLimitBytes?: number;
  /** How often the node is asked for a sign of life (10 s); three without any, and the stream is given up. */
  heartbeatMs?: number;
  /** The longest pause between attempts to connect (10 s). */
  maxPauseMs?: number;
  logger?: Logger;
}

export interface CallOptions {
  /** Aborting throws the signal's reason; an answer that comes later is dropped. */
  signal?: AbortSignal;
  deadlineMs?: number;
  /** Which stream to use, from 0; default: the one with the fewest calls under way. */
  stream?: number;
}

export class NodeClient {
  readonly #first: NodeConnection;
  readonly #connections: readonly NodeConnection[];
  readonly #subscriptions: Subscriptions;
  readonly #deadlineMs: number;
  readonly #closing = new AbortController();

  /** Connects in the background at once, and again whenever a stream is lost. Throws TypeError for a malformed address. */
  constructor(options: NodeClientOptions) {
    const { streams = 1, deadlineMs = 30_000, logger } = options;
    const common = {
      address: parseNodeAddress(options.url),
      receiveLimitBytes: options.receiveLimitBytes ?? 2 ** 30,
      heartbeatMs: options.heartbeatMs ?? 10_000,
      maxPauseMs: options.maxPauseMs ?? 10_000,
    };
    this.#deadlineMs = deadlineMs;
    this.#first = new NodeConnection({
      ...common,
      logger,
      onUp: () => this.#subscriptions.renew(),
      onNotification: (envelope) => this.#subscriptions.deliver(envelope),
    });
    // These come and go with the first, which speaks for them in the log.
    const others = Array.from({ length: streams - 1 }, () => new NodeConnection(common));
    this.#connections = [this.#first, ...others];
    this.#subscriptions = new Subscriptions(this.#first, deadlineMs, logger);
  }

  /** The node answers on the first stream. */
  get connected(): boolean {
    return this.#first.up;
  }

  /** Throws the signal's reason when that comes first, NodeUnavailableError when the client is closed. */
  async waitUntilConnected({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    const ended = AbortSignal.any(signal === undefined ? [this.#closing.signal] : [this.#closing.signal, signal]);
    await Promise.race([this.#first.whenUp, untilAborted(ended)]);
    ended.throwIfAborted();
  }

  /**
   * While a connection is being made the call waits for it; when the last attempt failed it fails at once. Throws
   * NodeRpcError, NodeUnavailableError, NodeProtocolError, or the signal's reason.
   */
  async call<O extends Op>(op: O, request: RequestOf<O>, options: CallOptions = {}): Promise<ResponseOf<O>> {
    return this.callRaw(op, request, (body) => decodeResponse(op, body), options);
  }

  /**
   * What `use` makes of the bytes of the response message (perhaps with an `error`), which are gone when it returns: for
   * measuring, and for decoding elsewhere. Throws as `call`, or what `use` throws.
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

  /** `lowHash` undefined: from genesis, which a node that has pruned must never be asked for. Throws as `call`. */
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
   * Subscribes now or as soon as the node is there, and again after each reconnect. A notification only says that something
   * happened: there is no order between topics, and what happens while the node is away is never told.
   */
  subscribe(
    topics: readonly Topic[],
    onNotification: (notification: Notification) => void,
    options: SubscribeOptions = {},
  ): Subscription {
    return this.#subscriptions.add({ ...options, topics, onNotification });
  }

  /** Calls under way fail with NodeUnavailableError. */
  async close(): Promise<void> {
    this.#closing.abort(new NodeUnavailableError('the client was closed'));
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
