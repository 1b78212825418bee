/**
 * The nodes of NODE_URL as one that answers while any of them does. A client of each is kept connected; the one that answered
 * last is asked until it fails.
 */
import {
  type CallOptions,
  nameOfNode,
  NodeClient,
  type NodeClientOptions,
  NodeProtocolError,
  NodeRpcError,
  NodeUnavailableError,
  type Op,
  type RequestOf,
  type ResponseOf,
} from '@kasgres/node';
import type { Logger } from '@kasgres/runtime';

export interface NodePoolParts {
  urls: readonly string[];
  /** Of the client of each. */
  client: Omit<NodeClientOptions, 'url' | 'logger'>;
  logger: Logger;
}

export interface PooledNode {
  /** `host:port`. */
  readonly name: string;
  readonly client: NodeClient;
}

/** What is handed in is not handed in twice: nobody knows whether a node that fell silent has taken it. */
const HAND_IN = new Set(['submitTransaction', 'submitBlock']);

export class NodePool {
  readonly #logger: Logger;
  #nodes: readonly PooledNode[];
  #preferred: PooledNode;

  /** Connects to all in the background. Throws TypeError for a malformed address, RangeError for none. */
  constructor({ urls, client, logger }: NodePoolParts) {
    this.#logger = logger;
    this.#nodes = urls.map((url) => ({
      name: nameOfNode(url),
      client: new NodeClient({ ...client, url, logger }),
    }));
    const [first] = this.#nodes;
    if (first === undefined) throw new RangeError('there is no node');
    this.#preferred = first;
  }

  get nodes(): readonly PooledNode[] {
    return this.#nodes;
  }

  /** Any of them answers. */
  get connected(): boolean {
    return this.#nodes.some(({ client }) => client.connected);
  }

  /** Never asks this node again, unless it is the only one left. @returns false when it is */
  async exclude(node: PooledNode): Promise<boolean> {
    const next = this.#nodes.find((other) => other !== node);
    if (next === undefined) return false;
    this.#nodes = this.#nodes.filter((other) => other !== node);
    if (this.#preferred === node) this.#preferred = next;
    await node.client.close();
    return true;
  }

  /** As that of NodeClient, on the first stream unless told otherwise; a request that a node leaves unanswered is put to the next that is connected. */
  async call<O extends Op>(op: O, request: RequestOf<O>, options: CallOptions = {}): Promise<ResponseOf<O>> {
    let failure: unknown;
    for (const node of this.#inTurn()) {
      try {
        const answer = await node.client.call(op, request, { stream: 0, ...options });
        this.#prefer(node);
        return answer;
      } catch (error) {
        failure = error;
        if (!isFailureOfNode(error)) throw error;
        if (HAND_IN.has(op)) break;
      }
    }
    // The next request begins with another.
    const [, next] = this.#inTurn();
    if (next !== undefined) this.#prefer(next);
    throw failure;
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map(({ client }) => client.close()));
  }

  /** Those that are connected, from the preferred one on; where none is, that one says why. */
  #inTurn(): PooledNode[] {
    const place = this.#nodes.indexOf(this.#preferred);
    const turn = [...this.#nodes.slice(place), ...this.#nodes.slice(0, place)];
    const connected = turn.filter(({ client }) => client.connected);
    return connected.length > 0 ? connected : [this.#preferred];
  }

  #prefer(node: PooledNode): void {
    if (node === this.#preferred || !this.#nodes.includes(node)) return;
    this.#logger.info({ from: this.#preferred.name, to: node.name }, 'asks another node');
    this.#preferred = node;
  }
}

function isFailureOfNode(error: unknown): boolean {
  if (error instanceof NodeRpcError) return error.kind === 'ibd';
  return error instanceof NodeUnavailableError || error instanceof NodeProtocolError;
}
