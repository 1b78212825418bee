/**
 * Which of the nodes in NODE_URL is followed: one at a time, until it fails; a better one is not searched for while it works.
 * Each has a client of its own, and what is begun with one ends with it: a batch never holds the answers of two.
 */
import { nameOfNode, NodeClient, type NodeClientOptions, NodeUnsuitableError } from '@kasgres/node';
import { FatalError, type Logger } from '@kasgres/runtime';
import type { Metrics } from './metrics.ts';

export interface NodeChoiceOptions {
  urls: readonly string[];
  /** Of the client of each. */
  client: Omit<NodeClientOptions, 'url' | 'logger'>;
  log: Logger;
  metrics: Pick<Metrics, 'nodeFailovers' | 'nodeFollowed'>;
}

export class NodeChoice {
  readonly #parts: NodeChoiceOptions;
  #place = 0;
  #client: NodeClient;
  /** Nodes that failed one after the other. */
  #failed = 0;
  /** Of these, by place, why they cannot serve however often they are asked. */
  readonly #refusals = new Map<number, string>();
  #closed = false;

  constructor(parts: NodeChoiceOptions) {
    this.#parts = parts;
    this.#client = this.#open();
  }

  get client(): NodeClient {
    return this.#client;
  }

  get url(): string {
    return this.#url(this.#place);
  }

  /** `host:port`. */
  get name(): string {
    return nameOfNode(this.#url(this.#place));
  }

  /**
   * The client of the chosen node. Where there is no other, it is waited for; else the first call fails at once when it is
   * away, and the next is taken.
   */
  async connect(signal: AbortSignal): Promise<NodeClient> {
    if (this.#parts.urls.length === 1) await this.#client.waitUntilConnected({ signal });
    return this.#client;
  }

  /** The node has brought the index on: what failed before it does not count any more. */
  served(): void {
    this.#failed = 0;
    this.#refusals.clear();
  }

  /**
   * Takes the next node.
   * @returns false when all have failed since one has served: time for a pause
   * @throws FatalError when each of them says what cannot pass by itself
   */
  async moveOn(error: Error): Promise<boolean> {
    const { urls, log, metrics } = this.#parts;
    this.#failed += 1;
    if (error instanceof NodeUnsuitableError) this.#refusals.set(this.#place, `${this.name}: ${error.message}`);
    if (this.#refusals.size === urls.length) {
      if (urls.length === 1) throw new FatalError(error.message, { cause: error });
      throw new FatalError(`None of the nodes can be followed. ${[...this.#refusals.values()].join(' ')}`);
    }
    const hasMore = this.#failed < urls.length;
    if (!hasMore) this.served();
    if (urls.length > 1) {
      const from = this.name;
      await this.#client.close();
      if (this.#closed) return false;
      metrics.nodeFollowed.set({ node: from }, 0);
      this.#place = (this.#place + 1) % urls.length;
      this.#client = this.#open();
      metrics.nodeFailovers.inc();
      log.warn({ from, to: this.name, reason: error.message }, 'a node failed; took the next');
    }
    return hasMore;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client.close();
  }

  #open(): NodeClient {
    const { client, log, metrics } = this.#parts;
    metrics.nodeFollowed.set({ node: this.name }, 1);
    return new NodeClient({ ...client, url: this.#url(this.#place), logger: log });
  }

  #url(place: number): string {
    const url = this.#parts.urls[place];
    if (url === undefined) throw new RangeError(`there is no node ${place}`);
    return url;
  }
}
