/** The client of one node: calls, hot calls and subscriptions over several streams that reconnect on their own. */
import type { Hash } from '@kasgres/kaspa';
import type { Notification, Op, RequestOf, ResponseOf, Topic } from './calls.ts';
import type { BlocksAnswer, RpcBlock, VirtualChainAnswer } from './model.ts';

/** The part of a pino logger that is used here. */
export interface NodeLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface NodeClientOptions {
  /** `grpc://host:port` or `host:port`. */
  url: string;
  /** How many streams to open, each on a connection of its own (default 1). The node answers calls of one operation one after another on a stream. */
  streams?: number;
  /** Default deadline of a call (30 s). */
  deadlineMs?: number;
  /** An answer larger than this cuts the stream (default 1 GiB, the node's own limit). */
  receiveLimitBytes?: number;
  logger?: NodeLogger;
}

export interface CallOptions {
  /** Aborting throws the signal's reason; an answer that comes later is dropped. */
  signal?: AbortSignal;
  deadlineMs?: number;
  /** Which stream to use; default: the one with the fewest calls under way. */
  stream?: number;
}

export interface SubscribeOptions {
  /** For `virtualChainChanged` (default false). */
  includeAcceptedTransactionIds?: boolean;
  /** Called each time the node has confirmed, so also after a reconnect: what happened before it was missed. */
  onSubscribed?: () => void;
  signal?: AbortSignal;
}

export interface Subscription {
  close(): void;
}

export class NodeClient {
  /** Connects in the background at once, and again whenever a stream is lost. */
  constructor(_options: NodeClientOptions) {}

  /** At least the first stream is open. */
  get connected(): boolean {
    throw new Error('not written yet');
  }

  /** Resolves once connected; throws the signal's reason when that is aborted first. */
  waitUntilConnected(_options: { signal?: AbortSignal } = {}): Promise<void> {
    throw new Error('not written yet');
  }

  /** Throws NodeRpcError, NodeUnavailableError, NodeProtocolError. */
  call<O extends Op>(_op: O, _request: RequestOf<O>, _options: CallOptions = {}): Promise<ResponseOf<O>> {
    throw new Error('not written yet');
  }

  /** `lowHash` undefined: from genesis, which a node that has pruned must never be asked. */
  getBlocks(
    _request: { lowHash: Hash | undefined; includeBlocks: boolean; includeTransactions: boolean },
    _options: CallOptions = {},
  ): Promise<BlocksAnswer> {
    throw new Error('not written yet');
  }

  getVirtualChainFromBlock(
    _request: { startHash: Hash; includeAcceptedTransactionIds: boolean; minConfirmationCount?: bigint },
    _options: CallOptions = {},
  ): Promise<VirtualChainAnswer> {
    throw new Error('not written yet');
  }

  getBlock(_request: { hash: Hash; includeTransactions: boolean }, _options: CallOptions = {}): Promise<RpcBlock> {
    throw new Error('not written yet');
  }

  /**
   * Subscribes now or as soon as the node is there, and again after each reconnect. Notifications only say that something
   * happened: they come without order between topics, and those of a time without connection never come.
   */
  subscribe(
    _topics: readonly Topic[],
    _onNotification: (notification: Notification) => void,
    _options: SubscribeOptions = {},
  ): Subscription {
    throw new Error('not written yet');
  }

  /** Calls under way fail with NodeUnavailableError. */
  close(): Promise<void> {
    throw new Error('not written yet');
  }
}
