/**
 * Presents the nodes of NODE_URL as one. All of them stay connected; calls go to the one that
 * responded last, and fail over to the next.
 */
import {
  type CallOptions,
  type ListingOp,
  type ListOptions,
  nameOfNode,
  NodeClient,
  NodeProtocolError,
  NodeRpcError,
  NodeUnavailableError,
  type Op,
  type RequestOf,
  type ResponseOf,
  type UseListing,
} from '@kasgres/node';
import type { Logger } from '@kasgres/runtime';

export interface PooledNode {
  name: string;
  client: NodeClient;
}

const CLIENT_OPTIONS = {
  deadlineMs: 5000,
  /** Far above the largest block template. Listings of the mempool have a separate limit. */
  receiveLimitBytes: 32 * 1024 * 1024,
};

/**
 * These are sent to a second node only if the first one has refused them: a node that did not
 * respond may have accepted them.
 */
const NON_IDEMPOTENT_CALLS = new Set(['submitTransaction', 'submitBlock']);

export class NodePool {
  readonly #logger: Logger;
  /** In the order of failover, the preferred one first. */
  nodes: readonly PooledNode[];

  /**
   * Connects to all nodes in the background.
   * @throws TypeError for a malformed address, RangeError for none
   */
  constructor(urls: readonly string[], logger: Logger) {
    if (urls.length === 0) throw new RangeError('NODE_URL has no node');
    this.#logger = logger;
    this.nodes = urls.map((url) => ({
      name: nameOfNode(url),
      client: new NodeClient({ ...CLIENT_OPTIONS, url, logger }),
    }));
  }

  get connected(): boolean {
    return this.nodes.some(({ client }) => client.connected);
  }

  /** Stops using a node. @returns false if it is the only one left, which stays in use */
  async exclude(node: PooledNode): Promise<boolean> {
    if (this.nodes.length === 1) return false;
    this.nodes = this.nodes.filter((other) => other !== node);
    await node.client.close();
    return true;
  }

  /** Calls a node. If it fails, the call is retried on the next connected node. */
  call<O extends Op>(op: O, request: RequestOf<O>, options: CallOptions = {}): Promise<ResponseOf<O>> {
    return this.#try(op, ({ client }) => client.call(op, request, options));
  }

  /**
   * Lists entries of the mempool of a node. If it fails, they are listed from the beginning, by the
   * next connected node.
   */
  list<O extends ListingOp, T>(
    op: O,
    request: RequestOf<O>,
    use: UseListing<T>,
    options: Pick<ListOptions, 'limitBytes'>,
  ): Promise<T> {
    return this.#try(op, ({ client }) => client.list(op, request, use, options));
  }

  async #try<T>(op: Op, ask: (node: PooledNode) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (const node of this.#candidates()) {
      try {
        const response = await ask(node);
        this.#prefer(node);
        return response;
      } catch (error) {
        failure = error;
        if (!isFailureOfNode(error)) throw error;
        if (NON_IDEMPOTENT_CALLS.has(op) && !(error instanceof NodeRpcError)) break;
      }
    }
    // The next call begins with another node.
    const [, next] = this.#candidates();
    if (next !== undefined) this.#prefer(next);
    throw failure;
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(({ client }) => client.close()));
  }

  /** Returns the connected nodes. If none is connected, the preferred one gives the error. */
  #candidates(): readonly PooledNode[] {
    const connected = this.nodes.filter(({ client }) => client.connected);
    return connected.length > 0 ? connected : this.nodes.slice(0, 1);
  }

  #prefer(node: PooledNode): void {
    const index = this.nodes.indexOf(node);
    if (index <= 0) return;
    this.#logger.info({ from: this.nodes[0]?.name, to: node.name }, 'failed over to another node');
    this.nodes = [...this.nodes.slice(index), ...this.nodes.slice(0, index)];
  }
}

function isFailureOfNode(error: unknown): boolean {
  if (error instanceof NodeRpcError) return error.kind === 'ibd' || error.kind === 'busy';
  return error instanceof NodeUnavailableError || error instanceof NodeProtocolError;
}
