/**
 * Consensus without clock, I/O and randomness: two instances with the same blocks, added in any
 * order, agree on everything.
 */
import { type Hash, type Header, toHex, workFromBits } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { type UtxoLookup, UtxoSet, UtxoView } from '../../economy/utxo.ts';
import { acceptMergeSet } from './acceptance.ts';
import { type Acceptance, type Block, type ChainState, getGhostdag, type Pov } from './block.ts';
import { BlockRuleError, checkBody, checkHeader, checkLockTimes } from './block-rules.ts';
import { type ChainRules, type Commitments, commitmentsAfter, isValidOnChain } from './chain-rules.ts';
import { blockContext } from './difficulty.ts';
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
  checkMinedTransaction,
  checkTransaction,
  type TransactionCheck,
  type TransactionRules,
} from './transaction-rules.ts';
import { findSink, pickVirtualParents } from './virtual-parents.ts';

/** A block without the data that follow from its position in the DAG. */
export type BlockBody = Pick<Block, 'hash' | 'header' | 'transactions'>;

export interface ConsensusOptions extends Partial<Pick<ChainRules, 'checksCommitments' | 'commitsToUtxos'>> {
  params: ConsensusParams;
  genesis: BlockBody;
  hasValidScripts: TransactionRules['hasValidScripts'];
}

export interface Virtual extends Pov {
  acceptance: Acceptance;
}

export interface ChainMove {
  /** From the old sink down. */
  removed: Block[];
  /**
   * From the lowest up to the new sink, with what each accepts: the lower ones of a long branch are
   * final at once, and forget it.
   */
  added: AddedToChain[];
}

interface AddedToChain {
  block: Block;
  acceptance: Acceptance;
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
  /** The latest ones, by the indexes of the parents. */
  private readonly povs = new Map<string, Pov>();
  private currentVirtual: Virtual;
  /** The highest block that is permanently on the selected chain. */
  private finalBlock: Block;
  private currentPruningPoint: Block;
  /** No new block may be above these since the pruning point moved. */
  private readonly abandoned = new Set<Block>();

  constructor(options: ConsensusOptions) {
    const { params, genesis, hasValidScripts, checksCommitments = true, commitsToUtxos = false } = options;
    const { coinbaseMaturity, subsidy } = params;
    this.params = params;
    const transactionRules = { coinbaseMaturity, hasValidScripts, checksStorageMass: checksCommitments };
    this.rules = { ...transactionRules, subsidy, commitsToUtxos, checksCommitments };
    this.genesis = newBlock(
      0,
      genesis,
      {
        parents: [],
        ghostdag: undefined,
        daaScore: Number(genesis.header.daaScore),
        nonDaa: new Set(),
        bits: genesis.header.bits,
        pastMedianTime: Number(genesis.header.timestamp),
        difficultyWindow: [],
        medianTimeWindow: [],
      },
      { kind: 'qualified', acceptance: { accepted: [], diff: { added: [], removed: [] }, fees: [] } },
    );
    this.finalBlock = this.genesis;
    this.currentPruningPoint = this.genesis;
    this.blocks.set(this.genesis.id, this.genesis);
    this.tips.add(this.genesis);
    this.currentVirtual = this.settleVirtual([this.genesis], new UtxoView(this.utxos));
  }

  get size(): number {
    return this.blocks.size;
  }

  /** As of the latest `resolveVirtual`. */
  get virtual(): Virtual {
    return this.currentVirtual;
  }

  get sink(): Block {
    return this.virtual.ghostdag.selectedParent;
  }

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
   * @param keep persists the checked block and returns the one to insert
   */
  add(body: BlockBody, keep: (body: BlockBody) => BlockBody = (same) => same): Block {
    checkBody(body.header, body.transactions, this.params);
    const pov = this.checkedPovOf(body.header);
    checkLockTimes(body.transactions, pov);
    return this.insert(keep(body), pov);
  }

  /** Adds a block whose transactions are known to match its header. Throws `BlockRuleError`. */
  addChecked(body: BlockBody): Block {
    return this.insert(body, this.checkedPovOf(body.header));
  }

  /**
   * Makes a block of the selected chain the pruning point and final; `resolveVirtual` must follow.
   * Blocks that are neither below nor above, nor in the past of those above, are abandoned.
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

  resolveVirtual(): ChainMove {
    const oldSink = this.sink;
    const cursor = this.cursor();
    const { sink, candidates } = findSink([...this.tips], cursor, this.finalBlock);
    this.currentVirtual = this.settleVirtual(pickVirtualParents(sink, candidates, this.params), cursor.view);
    const move = chainMove(oldSink, sink);
    this.finalizeUpTo(sink, (block) => sink.blueScore - block.blueScore >= this.params.finalityDepth);
    return move;
  }

  /** Returns `undefined` if a new block on these parents could not be on the chain. */
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

  /** Checks a transaction that is not in a block yet. */
  checkPayment(transaction: DagTransaction, utxos: UtxoLookup): TransactionCheck {
    return checkTransaction(transaction, utxos, this.virtual.daaScore, this.rules);
  }

  checkMinedPayment(transaction: DagTransaction, utxos: UtxoLookup, daaScore: number): TransactionCheck {
    return checkMinedTransaction(transaction, utxos, daaScore, this.rules);
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

  private insert(body: BlockBody, pov: Pov): Block {
    const block = newBlock(this.blocks.size, body, pov, { kind: 'unknown' });
    recordMerges(block, pov.ghostdag);
    this.blocks.set(block.id, block);
    for (const parent of pov.parents) this.tips.delete(parent);
    this.tips.add(block);
    return block;
  }

  private settleVirtual(parents: readonly Block[], viewOfSink: UtxoView): Virtual {
    const pov = this.povOf(parents);
    viewOfSink.apply(this.accept(pov, viewOfSink).diff);
    this.utxos.apply(viewOfSink.diff());
    return pov as Virtual;
  }

  private finalizeUpTo(block: Block, isFinal: (block: Block) => boolean): void {
    for (;;) {
      const next = findChainAncestorAt(block, this.finalBlock.height + 1);
      if (next === undefined || !isFinal(next)) return;
      for (const merged of getGhostdag(next).mergeSet) merged.state = { kind: 'final' };
      this.finalBlock = next;
    }
  }

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

function newBlock(
  index: number,
  { hash, header, transactions }: BlockBody,
  derived: Omit<Pov, 'acceptance' | 'ghostdag'> & Pick<Block, 'ghostdag'>,
  state: ChainState,
): Block {
  // A block must not keep the acceptance of its Pov in memory.
  const { parents, ghostdag, daaScore, nonDaa, bits, pastMedianTime, difficultyWindow, medianTimeWindow } = derived;
  return {
    index,
    hash,
    id: toHex(hash),
    header,
    transactions,
    parents,
    ghostdag,
    daaScore,
    nonDaa,
    bits,
    pastMedianTime,
    difficultyWindow,
    medianTimeWindow,
    blueScore: ghostdag?.blueScore ?? 0,
    blueWork: ghostdag?.blueWork ?? 0n,
    work: workFromBits(bits),
    ...treePosition(ghostdag?.selectedParent),
    mergedBy: [],
    state,
  };
}

/** @throws Error if the block cannot be on the chain, or is final */
export function withAcceptance(block: Block): AddedToChain {
  if (block.state.kind !== 'qualified') throw new Error(`block ${block.id} is on the chain and ${block.state.kind}`);
  return { block, acceptance: block.state.acceptance };
}

function chainMove(oldSink: Block, sink: Block): ChainMove {
  const removed: Block[] = [];
  let fork = oldSink;
  for (; !isChainAncestorOf(fork, sink); fork = getGhostdag(fork).selectedParent) removed.push(fork);
  const added: AddedToChain[] = [];
  for (let block = sink; block !== fork; block = getGhostdag(block).selectedParent) {
    added.push(withAcceptance(block));
  }
  return { removed, added: added.reverse() };
}
