/**
 * Follows the node's virtual chain: asks it what was removed and added since a position, fetches the bodies of everything
 * that was merged, and yields updates that are whole. Notifications only wake it up; they are never the data.
 */
import { type Hash, type Network, toHex } from '@kasgres/kaspa';
import {
  type NodeClient,
  NodeRpcError,
  NodeUnsuitableError,
  type RpcBlock,
  type VirtualChainAnswer,
} from '@kasgres/node';
import type { AddedChainBlock, ChainUpdate, Position } from '../chain-update.ts';
import { IncompleteUpdateError, NodeBehindError } from '../errors.ts';
import { BlockSet } from './block-set.ts';
import { fetchPages, type PageLimits } from './pages.ts';
import { Waker } from './waker.ts';

/** An answer with fewer chain blocks is followed step by step; more is catching up. The node's cap is 2,480 merged blocks. */
const NEAR_TIP_CHAIN_BLOCKS = 64;
/** How long to rest when no notification comes. */
const MAX_REST_MS = 1_000;

export interface SourceLimits extends PageLimits {
  /** A batch is handed on when it holds this many transactions. */
  batchTransactions: number;
}

interface ChainAnswer {
  removed: Hash[];
  added: Hash[];
  accepted: Hash[][];
  targetBlueScore: bigint;
}

export class Source {
  readonly #client: NodeClient;
  readonly #network: Network;
  readonly #limits: SourceLimits;
  readonly #waker = new Waker();

  constructor(client: NodeClient, network: Network, limits: SourceLimits) {
    this.#client = client;
    this.#network = network;
    this.#limits = limits;
  }

  /**
   * Endless; ends by the signal.
   * @throws NodeUnsuitableError when the node does not know the position any more or asks for a reorg below finality (invariant
   * 11); NodeBehindError when it does not know it yet; IncompleteUpdateError, NodeUnavailableError, NodeProtocolError, NodeRpcError: start again from the checkpoint
   */
  async *updates(start: Position, signal: AbortSignal): AsyncGenerator<ChainUpdate> {
    const subscription = this.#client.subscribe(
      ['virtualChainChanged', 'virtualDaaScoreChanged'],
      () => this.#waker.wake(),
      { signal, onSubscribed: () => this.#waker.wake() },
    );
    try {
      let position = start;
      // No name of a tail: the first look at the tip is always told.
      let tailOf: string | undefined;
      for (;;) {
        const chain = await this.#askChain(position, signal);
        if (chain.added.length === 0 && chain.removed.length === 0) {
          const tail = await this.#fetchTail(position, signal);
          const name = nameOf(tail);
          if (name !== tailOf) yield update(chain, { tail, atTip: true });
          tailOf = name;
          await this.#waker.rest(MAX_REST_MS, signal);
          continue;
        }
        if (chain.removed.length > 0) await this.#refuseIfBehind(position, chain, signal);
        const fork = chain.removed.length === 0 ? position : await this.#getFork(position, chain.removed, signal);
        const updates =
          chain.added.length < NEAR_TIP_CHAIN_BLOCKS
            ? this.#follow(fork, chain, signal)
            : this.#catchUp(fork, chain, signal);
        position = fork;
        for await (const next of updates) {
          position = positionAfter(next) ?? position;
          if (next.tail !== undefined) tailOf = nameOf(next.tail);
          yield next;
        }
        if (chain.added.length < NEAR_TIP_CHAIN_BLOCKS) await this.#waker.rest(MAX_REST_MS, signal);
      }
    } finally {
      subscription.close();
    }
  }

  async #askChain(position: Position, signal: AbortSignal): Promise<ChainAnswer> {
    const request = { startHash: position.hash, includeAcceptedTransactionIds: true };
    try {
      const [answer, { blueScore }] = await Promise.all([
        this.#client.getVirtualChainFromBlock(request, { signal, stream: 0 }),
        this.#client.call('getSinkBlueScore', {}, { signal, stream: 0 }),
      ]);
      return { ...chainOf(answer), targetBlueScore: blueScore };
    } catch (error) {
      if (error instanceof NodeRpcError && (error.kind === 'unknown-block' || error.kind === 'pruned')) {
        throw await this.#whyUnknown(position, error, signal);
      }
      throw error;
    }
  }

  /** A node that does not know our position may not have come so far; else it never will. */
  async #whyUnknown(position: Position, error: NodeRpcError, signal: AbortSignal): Promise<Error> {
    const { blueScore } = await this.#client.call('getSinkBlueScore', {}, { signal, stream: 0 });
    if (blueScore < position.blueScore) {
      return new NodeBehindError(
        `The node is behind this database: it is at blue score ${blueScore}, and does not know block ${toHex(position.hash)} ` +
          `at ${position.blueScore} yet (${error.message}).`,
      );
    }
    return new NodeUnsuitableError(
      error.kind === 'pruned' ? 'pruned' : 'other-chain',
      `The node does not know block ${toHex(position.hash)} any more, up to which this database is indexed (${error.message}). ` +
        'It has pruned it, was reset, or is on another branch. Point NODE_URL at a node that has it, or start with an empty database.',
    );
  }

  /**
   * A node that downloads the chain anew knows headers first: from a position whose body it does not have yet it leads down to a sink
   * far below. That is no reorg.
   */
  async #refuseIfBehind(position: Position, chain: ChainAnswer, signal: AbortSignal): Promise<void> {
    if (chain.targetBlueScore >= position.blueScore) return;
    const block = await this.#client.getBlock(
      { hash: position.hash, includeTransactions: false },
      { signal, stream: 0 },
    );
    if (!block.isHeaderOnly) return;
    throw new NodeBehindError(
      `The node is behind this database: it is at blue score ${chain.targetBlueScore}, and of block ${toHex(position.hash)} ` +
        `at ${position.blueScore} it has only the header yet.`,
    );
  }

  /** Where the removed blocks lead to. */
  async #getFork(position: Position, removed: Hash[], signal: AbortSignal): Promise<Position> {
    const last = await this.#client.getBlock(
      { hash: removed.at(-1) as Hash, includeTransactions: false },
      { signal, stream: 0 },
    );
    const depth = position.blueScore - last.header.blueScore;
    if (depth > this.#network.finalityDepth) {
      throw new NodeUnsuitableError(
        'other-chain',
        `The node asks for a reorg ${depth} blue blocks deep, below finality (${this.#network.finalityDepth}). ` +
          'It follows another chain than this database: point NODE_URL at a node of the same chain, or start with an empty database.',
      );
    }
    return { hash: last.selectedParentHash, blueScore: last.header.blueScore };
  }

  /** Near the tip: page after page, and the last one shows the tail too. */
  async *#follow(fork: Position, chain: ChainAnswer, signal: AbortSignal): AsyncGenerator<ChainUpdate> {
    const blocks = new BlockSet();
    const added: AddedChainBlock[] = [];
    let low = fork.hash;
    while (added.length < chain.added.length) {
      const page = await this.#client.getBlocks(
        { lowHash: low, includeBlocks: true, includeTransactions: true },
        { signal },
      );
      blocks.add(page.blocks);
      const before = added.length;
      while (added.length < chain.added.length && blocks.has(chain.added[added.length] as Hash)) {
        added.push(takeNext(blocks, chain, added.length));
      }
      if (added.length === before) throw new IncompleteUpdateError(`no blocks come after ${toHex(low)}`);
      low = chain.added[added.length - 1] as Hash;
    }
    const sink = added.at(-1)?.block;
    yield update(chain, { removed: chain.removed, added, tail: sink && blocks.takeTail(sink), atTip: true });
  }

  /** Far from the tip: several pages and the next stretches of the chain are under way while one is handed on. */
  async *#catchUp(fork: Position, first: ChainAnswer, signal: AbortSignal): AsyncGenerator<ChainUpdate> {
    const blocks = new BlockSet();
    const waiting: { chain: ChainAnswer; next: number }[] = [];
    const askOn = async function* (source: Source): AsyncGenerator<Hash[]> {
      for (let chain = first; ; ) {
        waiting.push({ chain, next: 0 });
        yield chain.added;
        const end = { hash: chain.added.at(-1) as Hash, blueScore: chain.targetBlueScore };
        chain = await source.#askChain(end, signal);
        if (chain.removed.length > 0 || chain.added.length < NEAR_TIP_CHAIN_BLOCKS) return;
      }
    };
    let removed = first.removed;
    let added: AddedChainBlock[] = [];
    let transactions = 0;
    let chain = first;
    for await (const page of fetchPages(this.#client, fork.hash, askOn(this), this.#limits, signal)) {
      blocks.add(page.blocks);
      for (let at = waiting[0]; at !== undefined && blocks.has(at.chain.added[at.next] as Hash); at = waiting[0]) {
        chain = at.chain;
        const taken = takeNext(blocks, chain, at.next);
        added.push(taken);
        for (const block of taken.mergeSet) transactions += block.transactions.length;
        at.next += 1;
        if (at.next === chain.added.length) waiting.shift();
      }
      if (transactions >= this.#limits.batchTransactions) {
        yield update(chain, { removed, added });
        removed = [];
        added = [];
        transactions = 0;
      }
    }
    if (added.length > 0) yield update(chain, { removed, added });
  }

  async #fetchTail(position: Position, signal: AbortSignal): Promise<RpcBlock[]> {
    const { blocks } = await this.#client.getBlocks(
      { lowHash: position.hash, includeBlocks: true, includeTransactions: true },
      { signal },
    );
    const [sink, ...others] = blocks;
    if (sink === undefined) return [];
    const set = new BlockSet();
    set.add(others);
    return set.takeTail(sink);
  }
}

function nameOf(tail: RpcBlock[]): string {
  return tail.map(({ hash }) => toHex(hash)).join();
}

function takeNext(blocks: BlockSet, chain: ChainAnswer, place: number): AddedChainBlock {
  return blocks.take(chain.added[place] as Hash, chain.accepted[place] as Hash[]);
}

function update(chain: ChainAnswer, parts: Partial<ChainUpdate>): ChainUpdate {
  return { removed: [], added: [], tail: undefined, atTip: false, targetBlueScore: chain.targetBlueScore, ...parts };
}

function positionAfter({ added }: ChainUpdate): Position | undefined {
  const last = added.at(-1)?.block;
  return last && { hash: last.hash, blueScore: last.header.blueScore };
}

function chainOf(answer: VirtualChainAnswer): Omit<ChainAnswer, 'targetBlueScore'> {
  const added = answer.addedChainBlockHashes;
  const accepted = answer.acceptedTransactionIds.map((entry, place) => {
    if (Buffer.compare(entry.acceptingBlockHash, added[place] ?? Buffer.alloc(0)) !== 0) {
      throw new IncompleteUpdateError(`accepted ids of ${toHex(entry.acceptingBlockHash)} are out of place`);
    }
    return entry.acceptedTransactionIds;
  });
  if (accepted.length !== added.length) {
    throw new IncompleteUpdateError(
      `${added.length} chain blocks were added but ${accepted.length} lists of accepted ids came`,
    );
  }
  return { removed: answer.removedChainBlockHashes, added, accepted };
}
