/**
 * Calls of the node for clients. Callers take turns at it as at the database (fairness/fair-queue.ts). Listings of the mempool, which are
 * megabytes, have a line and a stream of their own, so that no small call waits behind one.
 */
import type { CallOptions, NodeClient, Op, RequestOf, ResponseOf } from '@kasgres/node';
import { FairQueue } from './fairness/fair-queue.ts';
import { unavailable } from './http/errors.ts';

/** Streams to each node, as NodePool needs them. */
export const NODE_STREAMS = 2;
const LISTINGS_STREAM = 1;

const MAX_WAIT_MS = 3000;
const RETRY_AFTER_SECONDS = 2;
const busy = () => unavailable('The node is busy', RETRY_AFTER_SECONDS);

export type NodeCaller = Pick<NodeClient, 'call'>;

export class NodeCalls {
  readonly #node: NodeCaller;
  readonly #small = new FairQueue({ places: 16, maxWaiting: 800, maxWaitMs: MAX_WAIT_MS, busy });
  /** The one that runs is all that is in memory, beside responses on their way. */
  readonly #listings = new FairQueue({ places: 1, maxWaiting: 200, maxWaitMs: MAX_WAIT_MS, busy });

  constructor(node: NodeCaller) {
    this.#node = node;
  }

  /** The node as a caller has it: each call waits for the caller's turn. @throws HttpError 503 if that takes too long */
  of(caller: string): NodeCaller {
    return {
      call: <O extends Op>(op: O, request: RequestOf<O>, options?: CallOptions): Promise<ResponseOf<O>> =>
        this.#small.run(caller, () => this.#node.call(op, request, options)),
    };
  }

  /** Runs work on a large response when it is the caller's turn. @throws HttpError 503 if that takes too long */
  list<T>(caller: string, work: (node: NodeCaller) => Promise<T>): Promise<T> {
    const node: NodeCaller = {
      call: (op, request, options) => this.#node.call(op, request, { ...options, stream: LISTINGS_STREAM }),
    };
    return this.#listings.run(caller, () => work(node));
  }
}
