/**
 * Follows the node's virtual chain and yields complete updates. Notifications only wake it and are
 * never used as data.
 */
import { type Hash, HASH_BYTES, toHex } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { WorkerPool } from '@kasgres/runtime/worker-pool';
import { type AddedChainBlock, type ChainUpdate, createUpdate, type Position } from '../chain-update.ts';
import { IncompleteUpdateError } from '../errors.ts';
import { BlockSet } from './block-set.ts';
import type { CheckJob, Faults } from './check-page.worker.ts';
import { type ChainRequestDependencies, ChainRequests, type ChainResponse, type ChainStep } from './chain-requests.ts';
import { OpenBatch } from './open-batch.ts';
import { RecentBlocks } from './recent-blocks.ts';
import { fetchPages, PAGE_DEADLINE_MS, type PageLimits } from './pages.ts';

/**
 * A response with at least this many chain blocks is a catch-up. The node returns at most 2,480
 * merged blocks.
 */
const NEAR_TIP_CHAIN_BLOCKS = 64;
/**
 * The share of the bytes ahead for one batch: one is prepared and another applied while pages
 * arrive.
 */
const BATCH_SHARE = 1 / 4;
const MAX_REST_MS = 1_000;

export interface SourceLimits extends PageLimits {
  /** An update ends when it has this many transactions, or its share of the bytes. */
  batchTransactions: number;
}

export interface SourceDependencies extends ChainRequestDependencies {
  limits: SourceLimits;
}

export class Source {
  readonly #dependencies: SourceDependencies;
  readonly #requests: ChainRequests;
  readonly #recent = new RecentBlocks();
  readonly #waker = new Waker();

  constructor(dependencies: SourceDependencies) {
    this.#dependencies = dependencies;
    this.#requests = new ChainRequests(dependencies, this.#recent);
  }

  /**
   * @throws NodeUnsuitableError if the node has pruned our chain or left it below finality
   * (invariant 11); NodeBehindError; retryable errors
   */
  async *updates(start: Position): AsyncGenerator<ChainUpdate> {
    const { node, signal } = this.#dependencies;
    const subscription = node.subscribe(['virtualChainChanged', 'virtualDaaScoreChanged'], () => this.#waker.wake(), {
      signal,
      onSubscribed: () => this.#waker.wake(),
    });
    try {
      let position = start;
      // Undefined, so that the first tail is always yielded.
      let tailName: string | undefined;
      let isNearTip = false;
      for (;;) {
        const step = this.#requests.requestStep(position, position === start);
        // At the tip the next blocks are few, and requested together with the chain. If that fails,
        // the request is repeated where it is needed.
        const pending = isNearTip ? this.#getBlocks(position.hash).catch(() => undefined) : undefined;
        const chain = await step;
        const next = await pending;
        if (chain.added.length === 0 && chain.removed.length === 0) {
          isNearTip = true;
          const tail = this.#tailOf(next ?? (await this.#getBlocks(position.hash)));
          const name = nameOf(tail);
          if (name !== tailName) yield createUpdate(chain.targetBlueScore, { tail, atTip: true });
          tailName = name;
          await this.#waker.rest(MAX_REST_MS, signal);
          continue;
        }
        isNearTip = chain.added.length < NEAR_TIP_CHAIN_BLOCKS;
        position = chain.fork;
        for await (const update of isNearTip ? this.#follow(chain, next) : this.#catchUp(chain)) {
          position = positionAfter(update) ?? position;
          if (isNearTip) this.#recent.add(update.added);
          else this.#recent.clear();
          if (update.tail !== undefined) tailName = nameOf(update.tail);
          yield update;
        }
        if (isNearTip) await this.#waker.rest(MAX_REST_MS, signal);
      }
    } finally {
      subscription.close();
    }
  }

  /**
   * @param requested the response of getBlocks for the previous position, if there is one; it may
   * be older or newer than the chain
   */
  async *#follow(chain: ChainStep, requested: RpcBlock[] | undefined): AsyncGenerator<ChainUpdate> {
    const blocks = new BlockSet(this.#dependencies.network.crescendo);
    const batch = this.#openBatch(chain);
    // It lacks the past of the previous position. Of that past, the new chain can merge only the
    // removed chain blocks and what they merged.
    const removedBlocks = requested && this.#recent.findRemoved(chain.removed);
    if (removedBlocks !== undefined) blocks.add(removedBlocks);
    const firstPage = removedBlocks && requested;
    let page = firstPage ?? (await this.#getBlocks(chain.fork.hash));
    for (let next = 0; ; page = await this.#getBlocks(chain.added[next - 1] ?? chain.fork.hash)) {
      blocks.add(page);
      const before = next;
      const isKnown = (hash: Hash): boolean => (page === firstPage ? blocks.canTake(hash) : blocks.has(hash));
      for (; next < chain.added.length && isKnown(chain.added[next] as Hash); next += 1) {
        if (batch.isFull) yield createUpdate(chain.targetBlueScore, batch.take());
        batch.push(takeNext(blocks, chain, next, chain.added[next - 1] ?? chain.fork.hash));
      }
      if (next === chain.added.length) break;
      if (next === before && page !== firstPage) {
        throw new IncompleteUpdateError(`no blocks come after ${toHex(chain.added[next - 1] ?? chain.fork.hash)}`);
      }
    }
    const last = batch.take();
    const sink = last.added.at(-1)?.block;
    yield createUpdate(chain.targetBlueScore, { ...last, tail: sink && blocks.takeTail(sink), atTip: true });
  }

  async *#catchUp(first: ChainStep): AsyncGenerator<ChainUpdate> {
    const { node, network, limits, signal } = this.#dependencies;
    const requests = this.#requests;
    const blocks = new BlockSet(network.crescendo);
    const pending: { chain: ChainResponse; next: number }[] = [];
    const requestChain = async function* (): AsyncGenerator<Hash[]> {
      for (let chain: ChainResponse = first; ; ) {
        pending.push({ chain, next: 0 });
        yield chain.added;
        chain = await requests.request(chain.added.at(-1) as Hash);
        if (chain.removed.length > 0 || chain.added.length < NEAR_TIP_CHAIN_BLOCKS) return;
      }
    };
    const batch = this.#openBatch(first);
    let chain: ChainResponse = first;
    let parent = first.fork.hash;
    const checker = new WorkerPool<CheckJob, Faults>(new URL('./check-page.worker.ts', import.meta.url), 1);
    let pages = 0;
    const check = (page: Uint8Array): Promise<Faults> | undefined => {
      pages += 1;
      // A catch-up of one page needs no thread.
      return pages === 1 ? undefined : checker.run({ page, crescendo: network.crescendo });
    };
    try {
      for await (const page of fetchPages(node, first.fork.hash, requestChain(), limits, signal, { check })) {
        blocks.add(page.blocks, page.faults);
        for (let at = pending[0]; at !== undefined && blocks.has(at.chain.added[at.next] as Hash); at = pending[0]) {
          chain = at.chain;
          batch.push(takeNext(blocks, chain, at.next, parent));
          parent = chain.added[at.next] as Hash;
          at.next += 1;
          if (at.next === chain.added.length) pending.shift();
          if (batch.isFull) yield createUpdate(chain.targetBlueScore, batch.take());
        }
      }
      if (!batch.isEmpty) yield createUpdate(chain.targetBlueScore, batch.take());
    } finally {
      await checker.close();
    }
  }

  #openBatch({ removed }: ChainStep): OpenBatch {
    const { batchTransactions, maxBytesAhead } = this.#dependencies.limits;
    return new OpenBatch(removed, { transactions: batchTransactions, bytes: maxBytesAhead * BATCH_SHARE });
  }

  async #getBlocks(low: Hash): Promise<RpcBlock[]> {
    const { node, signal } = this.#dependencies;
    const request = { lowHash: low, includeBlocks: true, includeTransactions: true };
    return (await node.getBlocks(request, { signal, deadlineMs: PAGE_DEADLINE_MS })).blocks;
  }

  #tailOf([sink, ...others]: readonly RpcBlock[]): RpcBlock[] {
    if (sink === undefined) return [];
    const set = new BlockSet(this.#dependencies.network.crescendo);
    set.add(others);
    return set.takeTail(sink);
  }
}

function nameOf(tail: RpcBlock[]): string {
  return tail.map(({ hash }) => toHex(hash)).join();
}

/**
 * @throws IncompleteUpdateError if the node left out a chain block after the selected parent, or if
 * a block is missing
 */
function takeNext(blocks: BlockSet, chain: ChainResponse, index: number, selectedParent: Hash): AddedChainBlock {
  const hash = chain.added[index] as Hash;
  const taken = blocks.take(hash, splitHashes(chain.accepted[index] as Uint8Array));
  const [below] = taken.mergeSet;
  if (below === undefined || Buffer.compare(below.hash, selectedParent) !== 0) {
    throw new IncompleteUpdateError(`chain block ${toHex(hash)} does not follow ${toHex(selectedParent)}`);
  }
  return taken;
}

function splitHashes(bytes: Uint8Array): Hash[] {
  const count = bytes.length / HASH_BYTES;
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES));
}

function positionAfter({ added }: ChainUpdate): Position | undefined {
  const last = added.at(-1)?.block;
  return last && { hash: last.hash, blueScore: last.header.blueScore };
}

class Waker {
  #woken = Promise.withResolvers<void>();

  wake(): void {
    this.#woken.resolve();
  }

  async rest(maxMs: number, signal: AbortSignal): Promise<void> {
    await Promise.race([this.#woken.promise, sleep(maxMs, signal)]);
    this.#woken = Promise.withResolvers<void>();
    signal.throwIfAborted();
  }
}
