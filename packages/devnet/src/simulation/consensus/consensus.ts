/**
 * The simulated consensus: adds blocks, parents first, and keeps the data that a node derives from them: GHOSTDAG data, the virtual block, the
 * selected chain with its acceptance, the UTXO set. It has no clock, no I/O and no randomness: two instances with the same blocks, added in any
 * order, agree on everything.
 */
import { type Hash, type Header, toHex, workFromBits } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { UtxoSet, UtxoView } from '../../economy/utxo.ts';
import { type Acceptance, acceptMergeSet } from './acceptance.ts';
import { BlockRuleError, checkBody, checkHeader } from './block-rules.ts';
import { type Block, getGhostdag, type Pov } from './block.ts';
import { type ChainRules, type Commitments, commitmentsAfter, isValidOnChain } from './chain-rules.ts';
import { blockContext, EMPTY_WINDOW } from './difficulty.ts';
import { ghostdag } from './ghostdag.ts';
import type { ConsensusParams } from './params.ts';
import {
  findChainAncestorAt,
  isChainAncestorOf,
  isDagAncestorOf,
  isDagAncestorOfAny,
  recordMerges,
  treePosition,
} from './reachability.ts';
import { StateCursor } from './state-cursor.ts';
import {
  checkTransaction,
  type TransactionCheck,
  type TransactionRules,
  type UtxoLookup,
} from './transaction-rules.ts';
import { findSink, pickVirtualParents } from './virtual-parents.ts';

/** A received block with the ids and hashes of its transactions, without the data that follow from its position in the DAG. */
export type BlockBody = Pick<Block, 'hash' | 'header' | 'transactions'>;

export interface ConsensusOptions extends Partial<Pick<ChainRules, 'checksCommitments' | 'commitsToUtxos'>> {
  params: ConsensusParams;
  genesis: BlockBody;
  hasValidSignatures: TransactionRules['hasValidSignatures'];
}

/** The virtual block: its acceptance is always known. */
export interface Virtual extends Pov {
  acceptance: Acceptance;
}

/** The way along the selected chain from one sink to another. */
export interface ChainMove {
  /** From the old sink down. */
  removed: Block[];
  /** From the lowest up to the new sink. */
  added: Block[];
}

const REMEMBERED_POVS = 512;

export class Consensus {
  readonly params: ConsensusParams;
  readonly genesis: Block;
  /** The UTXO set of the virtual block. */
  readonly utxos = new UtxoSet();
  private readonly rules: ChainRules;
  private readonly blocks = new Map<string, Block>();
  private readonly tips = new Set<Block>();
  /** The latest ones by their parents: siblings share one, and a new block mostly has that of the virtual block. */
  private readonly povs = new Map<string, Pov>();
  private currentVirtual: Virtual;
  /** The highest block that is permanently on the selected chain. */
  private finalBlock: Block;
  private currentPruningPoint: Block;
  /** Abandoned when the pruning point moved: no new block may be above them. */
  private readonly abandoned = new Set<Block>();

  constructor(options: ConsensusOptions) {
    const { params, genesis, hasValidSignatures, checksCommitments = true, commitsToUtxos = false } = options;
    const { coinbaseMaturity, subsidy } = params;
    this.params = params;
    this.rules = { coinbaseMaturity, hasValidSignatures, subsidy, commitsToUtxos, checksCommitments };
    this.genesis = genesisOf(genesis);
    this.finalBlock = this.genesis;
    this.currentPruningPoint = this.genesis;
    this.blocks.set(this.genesis.id, this.genesis);
    this.tips.add(this.genesis);
    this.currentVirtual = this.settleVirtual([this.genesis], new UtxoView(this.utxos));
  }

  get size(): number {
    return this.blocks.size;
  }

  /** The block that a miner would make now, as of the latest `resolveVirtual`. */
  get virtual(): Virtual {
    return this.currentVirtual;
  }

  get sink(): Block {
    return this.virtual.ghostdag.selectedParent;
  }

  /** Every new block has it in its past. */
  get pruningPoint(): Block {
    return this.currentPruningPoint;
  }

  /** The greatest depth of a reorganisation, in chain blocks. */
  get changeableDepth(): number {
    return this.sink.height - this.finalBlock.height;
  }

  find(hash: Hash): Block | undefined {
    return this.blocks.get(toHex(hash));
  }

  /** Throws `BlockRuleError` if the block is unknown. */
  get(hash: Hash): Block {
    const block = this.find(hash);
    if (block === undefined) throw new BlockRuleError(`block has missing parents: [${toHex(hash)}]`);
    return block;
  }

  /**
   * Adds a new block; `resolveVirtual` must follow. Throws `BlockRuleError`.
   * @param keep persists the checked block before it is inserted; the returned block is inserted
   */
  add(body: BlockBody, keep: (body: BlockBody) => BlockBody = (same) => same): Block {
    checkBody(body.header, body.transactions, this.params);
    const pov = this.checkedPovOf(body.header);
    return this.insert(keep(body), pov);
  }

  /** Adds a block whose transactions are known to match its header. Throws `BlockRuleError`. */
  addChecked(body: BlockBody): Block {
    return this.insert(body, this.checkedPovOf(body.header));
  }

  /**
   * Makes a block of the selected chain the pruning point and final; `resolveVirtual` must follow. Blocks below are kept in memory. Blocks that
   * are neither below nor above, nor in the past of those above, are abandoned.
   */
  prune(hash: Hash): void {
    const block = this.get(hash);
    const isAbove = block !== this.pruningPoint && isChainAncestorOf(this.pruningPoint, block);
    if (!isAbove || !isChainAncestorOf(block, this.sink)) {
      throw new RangeError(`block ${block.id} is not on the selected chain above the pruning point`);
    }
    this.currentPruningPoint = block;
    this.finalizeUpTo(block, () => true);
    const tips = [...this.tips].filter((tip) => isDagAncestorOf(block, tip));
    for (const other of this.blocks.values()) if (!isDagAncestorOfAny(other, tips)) this.abandoned.add(other);
  }

  /** Moves the virtual block above all added blocks. */
  resolveVirtual(): ChainMove {
    const oldSink = this.sink;
    const cursor = this.cursor();
    const { sink, candidates } = findSink([...this.tips], cursor, this.finalBlock);
    this.currentVirtual = this.settleVirtual(pickVirtualParents(sink, candidates, this.params), cursor.view);
    this.finalizeUpTo(sink, (block) => sink.blueScore - block.blueScore >= this.params.finalityDepth);
    return chainMove(oldSink, sink);
  }

  /** Returns the mergeset and acceptance of a new block on these parents, `undefined` if it could not be on the chain. */
  findVirtualOn(parents: readonly Block[]): Virtual | undefined {
    const pov = this.povOf(parents);
    if (pov.acceptance === undefined) {
      if (!isChainAncestorOf(this.finalBlock, pov.ghostdag.selectedParent)) return undefined;
      const cursor = this.cursor();
      if (!cursor.moveTo(pov.ghostdag.selectedParent)) return undefined;
      this.accept(pov, cursor.view);
    }
    return pov as Virtual;
  }

  /** Checks whether the next block could accept a payment if these outputs were unspent. */
  checkPayment(transaction: DagTransaction, utxos: UtxoLookup, daaScore = this.virtual.daaScore): TransactionCheck {
    return checkTransaction(transaction, utxos, daaScore, this.rules);
  }

  /** Returns whether a block on a previous virtual block could still be on the selected chain. */
  isOpen({ parents, ghostdag: { selectedParent } }: Virtual): boolean {
    return !parents.some((parent) => this.abandoned.has(parent)) && isChainAncestorOf(this.finalBlock, selectedParent);
  }

  /** Returns the UTXOs that the transactions of a new block may spend. */
  viewOf(virtual: Virtual): UtxoView {
    if (virtual === this.virtual) return new UtxoView(this.utxos);
    const cursor = this.cursor();
    if (!cursor.moveTo(virtual.ghostdag.selectedParent)) throw new Error('the selected parent is disqualified');
    cursor.view.apply(virtual.acceptance.diff);
    return cursor.view;
  }

  /** Returns the commitments of a new block with the parents of this virtual block. */
  commitmentsOf(virtual: Virtual): Commitments {
    return commitmentsAfter(virtual.ghostdag.selectedParent, virtual.acceptance, this.rules);
  }

  private checkedPovOf(header: Header): Pov {
    const parents = (header.parentsByLevel[0] ?? []).map((parent) => this.get(parent));
    if (parents.length === 0) throw new BlockRuleError('block has no parents');
    const missing = parents.filter((parent) => this.abandoned.has(parent)).map(({ id }) => id);
    if (missing.length > 0) throw new BlockRuleError(`block has missing parents: [${missing.join(', ')}]`);
    if (!isDagAncestorOfAny(this.pruningPoint, parents)) {
      throw new BlockRuleError(`pruning point ${this.pruningPoint.id} is not in the past of this block`);
    }
    const pov = this.povOf(parents);
    checkHeader(header, pov, this.params);
    return pov;
  }

  private povOf(parents: readonly Block[]): Pov {
    const key = parents.map(({ index }) => index).join();
    let pov = this.povs.get(key);
    if (pov === undefined) {
      const merged = ghostdag(parents, this.params);
      pov = { parents, ghostdag: merged, ...blockContext(merged, this.params), acceptance: undefined };
      this.povs.set(key, pov);
      const [oldest = key] = this.povs.keys();
      if (this.povs.size > REMEMBERED_POVS) this.povs.delete(oldest);
    }
    return pov;
  }

  private insert({ hash, header, transactions }: BlockBody, pov: Pov): Block {
    const block: Block = {
      index: this.blocks.size,
      hash,
      id: toHex(hash),
      header,
      transactions,
      parents: pov.parents,
      ghostdag: pov.ghostdag,
      blueScore: pov.ghostdag.blueScore,
      blueWork: pov.ghostdag.blueWork,
      work: workFromBits(pov.bits),
      daaScore: pov.daaScore,
      nonDaa: pov.nonDaa,
      bits: pov.bits,
      pastMedianTime: pov.pastMedianTime,
      difficultyWindow: pov.difficultyWindow,
      medianTimeWindow: pov.medianTimeWindow,
      ...treePosition(pov.ghostdag.selectedParent),
      mergedBy: [],
      state: { kind: 'unknown' },
    };
    recordMerges(block, pov.ghostdag);
    this.blocks.set(block.id, block);
    for (const parent of pov.parents) this.tips.delete(parent);
    this.tips.add(block);
    return block;
  }

  /** Moves the UTXO set to the virtual block on these parents. */
  private settleVirtual(parents: readonly Block[], viewOfSink: UtxoView): Virtual {
    const pov = this.povOf(parents);
    viewOfSink.apply(this.accept(pov, viewOfSink).diff);
    viewOfSink.commit();
    return pov as Virtual;
  }

  /** Makes the chain blocks up to this one final while the condition holds. This deletes the data that would undo them. */
  private finalizeUpTo(block: Block, isFinal: (block: Block) => boolean): void {
    for (;;) {
      const next = findChainAncestorAt(block, this.finalBlock.height + 1);
      if (next === undefined || !isFinal(next)) return;
      for (const merged of getGhostdag(next).mergeSet) merged.state = { kind: 'final' };
      this.finalBlock = next;
    }
  }

  /** Returns a cursor at the sink. */
  private cursor(): StateCursor {
    const view = new UtxoView(this.utxos);
    view.undo(this.virtual.acceptance.diff);
    return new StateCursor(view, this.sink, (block) => this.judge(block, view));
  }

  private judge(block: Block, view: UtxoView): void {
    const acceptance = this.accept(this.povOf(block.parents), view);
    view.apply(acceptance.diff);
    const isQualified = isValidOnChain(block, acceptance, view, this.rules);
    block.state = isQualified ? { kind: 'qualified', acceptance } : { kind: 'disqualified' };
    if (!isQualified) view.undo(acceptance.diff);
  }

  /** @param view of the state at the selected parent */
  private accept(pov: Pov, view: UtxoView): Acceptance {
    pov.acceptance ??= acceptMergeSet(pov.ghostdag.mergeSet, pov.daaScore, view, this.rules);
    return pov.acceptance;
  }
}

function genesisOf({ hash, header, transactions }: BlockBody): Block {
  return {
    index: 0,
    hash,
    id: toHex(hash),
    header,
    transactions,
    parents: [],
    ghostdag: undefined,
    blueScore: 0,
    blueWork: 0n,
    work: workFromBits(header.bits),
    daaScore: Number(header.daaScore),
    nonDaa: new Set<Block>(),
    bits: header.bits,
    pastMedianTime: Number(header.timestamp),
    difficultyWindow: EMPTY_WINDOW,
    medianTimeWindow: EMPTY_WINDOW,
    ...treePosition(undefined),
    mergedBy: [],
    state: { kind: 'qualified', acceptance: { accepted: [], diff: { added: [], removed: [] }, fees: [] } },
  };
}

function chainMove(oldSink: Block, sink: Block): ChainMove {
  const removed: Block[] = [];
  let fork = oldSink;
  for (; !isChainAncestorOf(fork, sink); fork = getGhostdag(fork).selectedParent) removed.push(fork);
  const added: Block[] = [];
  for (let block = sink; block !== fork; block = getGhostdag(block).selectedParent) added.push(block);
  return { removed, added: added.reverse() };
}
