/**
 * Chooses the node of NODE_URL to follow. Each node has a separate client, so a batch never mixes
 * responses of two.
 */
import {
  nameOfNode,
  NodeClient,
  type NodeClientOptions,
  NodeUnsuitableError,
  type NodeUnsuitableReason,
} from '@kasgres/node';
import { FatalError, type Logger } from '@kasgres/runtime';
import type { Metrics } from './metrics.ts';

export interface NodeChoiceOptions {
  urls: readonly string[];
  client: Omit<NodeClientOptions, 'url' | 'logger'>;
  log: Logger;
  metrics: Pick<Metrics, 'nodeFailovers' | 'nodeFollowed'>;
}

/**
 * `gap`: the next attempt may cross the gap on the current node; it has the error to exit with if
 * the index may not.
 */
export type Failover = 'continue' | 'pause' | { readonly gap: FatalError };

export class NodeChoice {
  readonly #options: NodeChoiceOptions;
  #index = 0;
  #client: NodeClient;
  /** The number of consecutive nodes that failed. */
  #failed = 0;
  /** The latest permanent refusals, by index of the node. */
  readonly #refusals = new Map<number, NodeUnsuitableError>();
  #closed = false;

  constructor(options: NodeChoiceOptions) {
    this.#options = options;
    this.#client = this.#open();
  }

  get client(): NodeClient {
    return this.#client;
  }

  get count(): number {
    return this.#options.urls.length;
  }

  get url(): string {
    return this.#options.urls[this.#index] as string;
  }

  get name(): string {
    return nameOfNode(this.url);
  }

  /**
   * Returns the client of the current node. An only node is awaited; with several, the first call
   * to an unavailable node fails over.
   */
  async connect(signal: AbortSignal): Promise<NodeClient> {
    if (this.#options.urls.length === 1) await this.#client.waitUntilConnected({ signal });
    return this.#client;
  }

  resetFailures(): void {
    this.#failed = 0;
    this.#refusals.clear();
  }

  /**
   * Moves to the next node, and tells the caller to pause if every node has failed since the last
   * pause or progress. If every node has refused permanently, the gap is crossed on each node that
   * lacks the checkpoint, one after another, after that node has refused again.
   * @throws FatalError if every node has refused permanently and none of them can cross the gap
   */
  async failOver(error: Error): Promise<Failover> {
    const { length } = this.#options.urls;
    this.#failed += 1;
    if (error instanceof NodeUnsuitableError) {
      this.#addRefusal(error);
      if (this.#haveAllRefused) return await this.#crossGap(error);
    }
    const hasMore = this.#failed < length;
    if (!hasMore) {
      this.#failed = 0;
      // An unavailable node may be able to continue without a gap, so the nodes are asked again.
      // Once all have refused, none can.
      if (!this.#haveAllRefused) this.#refusals.clear();
    }
    if (length > 1) await this.#moveTo((this.#index + 1) % length, error);
    return hasMore ? 'continue' : 'pause';
  }

  get #haveAllRefused(): boolean {
    return this.#refusals.size === this.#options.urls.length;
  }

  #addRefusal(error: NodeUnsuitableError): void {
    // A node that could not serve the index after the gap still lacks the checkpoint. Overwriting
    // the reason would try it again without end.
    const known = this.#refusals.get(this.#index)?.reason;
    const couldNotCross = known === 'wrong-utxo-set' || known === 'below-bootstrap';
    if (!couldNotCross || !isGapReason(error.reason)) this.#refusals.set(this.#index, error);
  }

  async #crossGap(error: NodeUnsuitableError): Promise<Failover> {
    const { length } = this.#options.urls;
    for (let step = 0; step < length; step += 1) {
      const index = (this.#index + step) % length;
      const refusal = this.#refusals.get(index);
      if (refusal === undefined || !isGapReason(refusal.reason)) continue;
      if (step === 0) return { gap: this.#describeRefusals(error) };
      await this.#moveTo(index, error);
      return 'continue';
    }
    throw this.#describeRefusals(error);
  }

  #describeRefusals(error: NodeUnsuitableError): FatalError {
    const { urls } = this.#options;
    if (urls.length === 1) return new FatalError(error.message, { cause: error });
    const reasons = urls.map((url, index) => `${nameOfNode(url)}: ${this.#refusals.get(index)?.message}`);
    return new FatalError(`None of the nodes can be followed. ${reasons.join(' ')}`);
  }

  async #moveTo(index: number, error: Error): Promise<void> {
    const { log, metrics } = this.#options;
    const from = this.name;
    await this.#client.close();
    if (this.#closed) return;
    metrics.nodeFollowed.set({ node: from }, 0);
    this.#index = index;
    this.#client = this.#open();
    metrics.nodeFailovers.inc();
    log.warn({ from, to: this.name, reason: error.message }, 'node failed; failed over to the next');
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

/** Returns whether a node with this reason can serve the index after a gap. */
function isGapReason(reason: NodeUnsuitableReason): boolean {
  return reason === 'pruned' || reason === 'other-chain';
}
