/** Chooses the node of NODE_URL to follow. Each node has a separate client, so a batch never mixes responses of two. */
import { nameOfNode, NodeClient, type NodeClientOptions, NodeUnsuitableError } from '@kasgres/node';
import { FatalError, type Logger } from '@kasgres/runtime';
import type { Metrics } from './metrics.ts';

export interface NodeChoiceOptions {
  urls: readonly string[];
  client: Omit<NodeClientOptions, 'url' | 'logger'>;
  log: Logger;
  metrics: Pick<Metrics, 'nodeFailovers' | 'nodeFollowed'>;
}

export class NodeChoice {
  readonly #options: NodeChoiceOptions;
  #index = 0;
  #client: NodeClient;
  /** The number of consecutive nodes that failed. */
  #failed = 0;
  /** The permanent refusals among these failures, by index of the node. */
  readonly #refusals = new Map<number, string>();
  #closed = false;

  constructor(options: NodeChoiceOptions) {
    this.#options = options;
    this.#client = this.#open();
  }

  get client(): NodeClient {
    return this.#client;
  }

  get url(): string {
    return this.#options.urls[this.#index] as string;
  }

  get name(): string {
    return nameOfNode(this.url);
  }

  /** Returns the client of the current node. An only node is awaited; with several, the first call to an unavailable node fails over. */
  async connect(signal: AbortSignal): Promise<NodeClient> {
    if (this.#options.urls.length === 1) await this.#client.waitUntilConnected({ signal });
    return this.#client;
  }

  resetFailures(): void {
    this.#failed = 0;
    this.#refusals.clear();
  }

  /** Returns false if every node has failed since the last progress, so that the caller pauses. @throws FatalError if every node refused permanently */
  async failOver(error: Error): Promise<boolean> {
    const { urls, log, metrics } = this.#options;
    this.#failed += 1;
    if (error instanceof NodeUnsuitableError) this.#refusals.set(this.#index, `${this.name}: ${error.message}`);
    if (this.#refusals.size === urls.length) {
      if (urls.length === 1) throw new FatalError(error.message, { cause: error });
      throw new FatalError(`None of the nodes can be followed. ${[...this.#refusals.values()].join(' ')}`);
    }
    const hasMore = this.#failed < urls.length;
    if (!hasMore) this.resetFailures();
    if (urls.length > 1) {
      const from = this.name;
      await this.#client.close();
      if (this.#closed) return false;
      metrics.nodeFollowed.set({ node: from }, 0);
      this.#index = (this.#index + 1) % urls.length;
      this.#client = this.#open();
      metrics.nodeFailovers.inc();
      log.warn({ from, to: this.name, reason: error.message }, 'node failed; failed over to the next');
    }
    return hasMore;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client.close();
  }

  #open(): NodeClient {
    const { client, log, metrics } = this.#options;
    metrics.nodeFollowed.set({ node: this.name }, 1);
    return new NodeClient({ ...client, url: this.url, logger: log });
  }
}
