/** Presents the nodes of NODE_URL as one. All of them stay connected; calls go to the one that responded last, and fail over to the next. */
import {
  type CallOptions,
  nameOfNode,
  NodeClient,
  NodeProtocolError,
  NodeRpcError,
  NodeUnavailableError,
  type Op,
  type RequestOf,
  type ResponseOf,
} from '@kasgres/node';
import type { Logger } from '@kasgres/runtime';
import { NODE_STREAMS } from './node-calls.ts';

export interface PooledNode {
  name: string;
  client: NodeClient;
}

const CLIENT_OPTIONS = {
  streams: NODE_STREAMS,
  deadlineMs: 5000,
  /** Far above the largest block template, and above the entries of a mempool that are listed at once. */
  receiveLimitBytes: 128 * 1024 * 1024,
};

/** These are not sent to a second node, since a node that did not respond may have accepted them. */
const NON_IDEMPOTENT_CALLS = new Set(['submitTransaction', 'submitBlock']);

export class NodePool {
  readonly #logger: Logger;
  /** In the order of failover, the preferred one first. */
  nodes: readonly PooledNode[];

  /** Connects to all nodes in the background. @throws TypeError for a malformed address, RangeError for none */
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

  /** Calls a node, on the first stream by default. If it fails, the call is retried on the next connected node. */
  async call<O extends Op>(op: O, request: RequestOf<O>, options: CallOptions = {}): Promise<ResponseOf<O>> {
    let failure: unknown;
    for (const node of this.#candidates()) {
      try {
        const response = await node.client.call(op, request, { stream: 0, ...options });
        this.#prefer(node);
        return response;
      } catch (error) {
        failure = error;
        if (!isFailureOfNode(error)) throw error;
        if (NON_IDEMPOTENT_CALLS.has(op)) break;
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
  if (error instanceof NodeRpcError) return error.kind === 'ibd';
  return error instanceof NodeUnavailableError || error instanceof NodeProtocolError;
}
