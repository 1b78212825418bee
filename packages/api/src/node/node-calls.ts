/**
 * Calls of the node for clients. Callers take turns as at the database (FairQueue).
 * Listings of the mempool, which are megabytes, have separate queues and connections, so that no
 * small call waits behind one.
 */
import {
  type CallOptions,
  type ListingOp,
  type ListOptions,
  type NodeClient,
  NodeProtocolError,
  type Op,
  type RequestOf,
  type ResponseOf,
  type UseListing,
} from '@kasgres/node';
import { FairQueue, unavailable } from '@kasgres/reads';
import type { z } from 'zod';

/**
 * One caller has at most half of them, so that a large listing of one does not delay all others.
 */
const LISTINGS_BY_ADDRESSES = 2;
/**
 * Connections to each node: for calls, for listings of the whole mempool, and for those by
 * addresses.
 */
export const CONNECTIONS_PER_NODE = 2 + LISTINGS_BY_ADDRESSES;

const SMALL_CALLS = 16;
const WAITING_PER_SLOT = 50;
const MAX_WAIT_MS = 3000;
const RETRY_AFTER_SECONDS = 2;
const busy = () => unavailable('The node is busy', RETRY_AFTER_SECONDS);

const queueOfListings = (slots: number) => new FairQueue({ slots, maxWaiting: 200, maxWaitMs: MAX_WAIT_MS, busy });

export type NodeCaller = Pick<NodeClient, 'call'>;
export type NodeLister = Pick<NodeClient, 'call' | 'list'>;

export class NodeCalls {
  readonly #node: NodeLister;
  /** Processes that share the node. */
  readonly processes: number;
  readonly #small: FairQueue;
  /**
   * Few at a time: the node makes each as a whole. The whole mempool may take seconds, for which
   * those by addresses do not wait.
   */
  readonly #listings: Readonly<Record<ListingOp, FairQueue>> = {
    getMempoolEntries: queueOfListings(1),
    getMempoolEntriesByAddresses: queueOfListings(LISTINGS_BY_ADDRESSES),
  };

  /** @param processes share the calls that may run at once, at least two in each */
  constructor(node: NodeLister, processes = 1) {
    this.#node = node;
    this.processes = processes;
    const slots = Math.max(Math.floor(SMALL_CALLS / processes), 2);
    this.#small = new FairQueue({ slots, maxWaiting: slots * WAITING_PER_SLOT, maxWaitMs: MAX_WAIT_MS, busy });
  }

  /**
   * Returns the node for a caller, whose calls take turns with others. They throw an HttpError 503
   * if that takes too long.
   */
  of(caller: string): NodeCaller {
    return {
      call: <O extends Op>(op: O, request: RequestOf<O>, options?: CallOptions): Promise<ResponseOf<O>> =>
        this.#small.run(caller, () => this.#node.call(op, request, options)),
    };
  }

  /**
   * Lists entries of the mempool when it is the caller's turn. Throws an HttpError 503 if that
   * takes too long.
   */
  list<O extends ListingOp, T>(
    caller: string,
    op: O,
    request: RequestOf<O>,
    use: UseListing<T>,
    options: Pick<ListOptions, 'limitBytes'>,
  ): Promise<T> {
    return this.#listings[op].run(caller, () => this.#node.list(op, request, use, options));
  }
}

export interface NodeState {
  connected: boolean;
  /** Both as reported by the node; undefined while it does not respond. */
  synced: boolean | undefined;
  sinkBlueScore: bigint | undefined;
}

const STATE_DEADLINE_MS = 1000;
const UNKNOWN = { synced: undefined, sinkBlueScore: undefined };

/** Reads the state of the node for the status, which shows any error as an unavailable node. */
export async function findNodeState(node: Pick<NodeClient, 'call' | 'connected'>): Promise<NodeState> {
  if (!node.connected) return { connected: false, ...UNKNOWN };
  const options = { deadlineMs: STATE_DEADLINE_MS };
  try {
    const [{ isSynced }, { blueScore }] = await Promise.all([
      node.call('getServerInfo', {}, options),
      node.call('getSinkBlueScore', {}, options),
    ]);
    return { connected: true, synced: isSynced, sinkBlueScore: blueScore };
  } catch {
    return { connected: node.connected, ...UNKNOWN };
  }
}

/** Returns a field that protobuf makes optional. @throws NodeProtocolError if it is absent */
export function required<T>(field: T | undefined, name: string): T {
  if (field === undefined) throw new NodeProtocolError(`the response of the node has no ${name}`);
  return field;
}

/** Fields of a message for a schema: numbers that JSON shows as strings are bigints. */
type MessageFor<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape]: z.output<Shape[Name]> | (string extends z.output<Shape[Name]> ? bigint : never);
};

/**
 * Picks the fields of a schema from a message of the node, with bigints as decimal strings.
 * @throws NodeProtocolError for a number that JSON does not have
 */
export function toJson<Shape extends z.ZodRawShape>(
  { shape }: z.ZodObject<Shape>,
  message: MessageFor<Shape>,
): { [Name in keyof Shape]: z.output<Shape[Name]> } {
  const entries = Object.keys(shape).map((name) => {
    const value: unknown = message[name];
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new NodeProtocolError(`the response of the node has no finite ${name}`);
    return [name, typeof value === 'bigint' ? String(value) : value];
  });
  return Object.fromEntries(entries) as { [Name in keyof Shape]: z.output<Shape[Name]> };
}
