/**
 * A block DAG in memory, without consensus rules: mergesets, colours, the sink and acceptance come
 * from the simulation or a recording.
 */
import { type Hash, type Header, toHex, type Transaction } from '@kasgres/kaspa';

export interface DagTransaction extends Transaction {
  transactionId: Hash;
  hash: Hash;
  computeMass: bigint;
}

/** Hashes are lower-case hex everywhere in `dag`. */
export interface NewBlock extends Pick<DagBlock, 'hash' | 'header' | 'transactions' | 'difficulty'> {
  /** `undefined` for genesis. */
  selectedParentHash: string | undefined;
  mergeSetBlues: readonly string[];
  mergeSetReds: readonly string[];
}

/** A block in the DAG. Only `Dag` changes it. */
export interface DagBlock {
  readonly hash: string;
  readonly header: Header;
  /** As a multiple of the minimum. */
  readonly difficulty: number;
  readonly transactions: readonly DagTransaction[];
  readonly parents: readonly DagBlock[];
  readonly children: readonly DagBlock[];
  /** `undefined` for genesis, and if it is pruned. */
  readonly selectedParent: DagBlock | undefined;
  readonly mergeSetBlues: readonly DagBlock[];
  readonly mergeSetReds: readonly DagBlock[];
  /**
   * In the order of acceptance: selected parent first, then ascending by (blue work, hash), as
   * blues and reds are.
   */
  readonly mergeSet: readonly DagBlock[];
  /** Its transactions are pruned, and its relations to pruned blocks are removed. */
  readonly isHeaderOnly: boolean;
  /** Index in `chainBlocks`; `undefined` for a block off the chain. */
  readonly chainIndex: number | undefined;
  /** `undefined` for the sink and its anticone. */
  readonly mergingBlock: DagBlock | undefined;
  /** `undefined` for a block that never was on the chain. */
  readonly accepted: readonly AcceptedTransaction[] | undefined;
}

/** An accepted transaction variant and its merged block. */
export interface AcceptedTransaction {
  readonly block: DagBlock;
  readonly transaction: DagTransaction;
}

export interface Virtual {
  readonly sink: DagBlock;
  readonly parents: readonly DagBlock[];
  readonly blueScore: bigint;
  readonly daaScore: bigint;
  /** Unix milliseconds. */
  readonly pastMedianTime: bigint;
  readonly difficulty: number;
}

export interface NewVirtual extends Omit<Virtual, 'sink' | 'parents'> {
  sink: string;
  parents: readonly string[];
}

export interface ChainChange {
  /** From the old sink down. */
  removed: DagBlock[];
  /** From the lowest up to the new sink. */
  added: DagBlock[];
}

type StoredBlock = { -readonly [K in keyof DagBlock]: DagBlock[K] };

export class Dag {
  private readonly blocks = new Map<string, StoredBlock>();
  private readonly chain: StoredBlock[] = [];
  /** One variant of each id: all have the same outputs. */
  private readonly transactions = new Map<string, DagTransaction>();
  private readonly acceptingBlocks = new Map<string, DagBlock>();
  /** Genesis, and every block that was the pruning point after it. */
  private readonly roots: StoredBlock[] = [];
  private currentVirtual: Virtual | undefined;

  /**
   * Adds a block, unless the DAG has it, and returns it. Throws if a referenced block is unknown.
   */
  add(block: NewBlock): DagBlock {
    const known = this.blocks.get(block.hash);
    if (known !== undefined) return known;
    const parents = (block.header.parentsByLevel[0] ?? []).map((hash) => this.stored(toHex(hash)));
    const mergeSetBlues = block.mergeSetBlues.map((hash) => this.stored(hash));
    const mergeSetReds = block.mergeSetReds.map((hash) => this.stored(hash));
    const selectedParent = block.selectedParentHash === undefined ? undefined : this.stored(block.selectedParentHash);
    const { hash, header, difficulty, transactions } = block;
    const added: StoredBlock = {
      hash,
      header,
      difficulty,
      transactions,
      parents,
      children: [],
      selectedParent,
      mergeSetBlues,
      mergeSetReds,
      mergeSet: inAcceptanceOrder(selectedParent, [...mergeSetBlues, ...mergeSetReds]),
      isHeaderOnly: false,
      chainIndex: undefined,
      mergingBlock: undefined,
      accepted: undefined,
    };
    for (const parent of parents) parent.children = [...parent.children, added];
    for (const transaction of transactions) this.transactions.set(toHex(transaction.transactionId), transaction);
    this.blocks.set(hash, added);
    if (this.roots.length === 0) this.roots.push(added);
    return added;
  }

  /**
   * Sets the transactions that a chain block accepts, before `setVirtual` first puts it on the
   * chain.
   */
  setAcceptance(hash: string, accepted: readonly { blockHash: string; index: number }[]): void {
    this.stored(hash).accepted = accepted.map(({ blockHash, index }) => {
      const block = this.stored(blockHash);
      const transaction = block.transactions[index];
      if (transaction === undefined) throw new Error(`block ${blockHash} has no transaction ${index}`);
      return { block, transaction };
    });
  }

  setVirtual(virtual: NewVirtual): ChainChange {
    const sink = this.stored(virtual.sink);
    const added: StoredBlock[] = [];
    let fork: DagBlock | undefined = sink;
    for (; fork !== undefined && fork.chainIndex === undefined; fork = fork.selectedParent) {
      added.push(this.stored(fork.hash));
    }
    added.reverse();
    const removed = this.chain.splice((fork?.chainIndex ?? -1) + 1).reverse();
    for (const block of removed) this.leaveChain(block);
    for (const block of added) this.joinChain(block);
    this.currentVirtual = { ...virtual, sink, parents: virtual.parents.map((hash) => this.stored(hash)) };
    return { removed, added };
  }

  /**
   * Moves the pruning point and deletes the data that a node deletes then. Transactions are still
   * found by id, since a node keeps spent outputs.
   * @param headersBelow the least depth, in chain blocks, to which headers are kept
   */
  prune(hash: string, headersBelow: number): void {
    const root = this.stored(hash);
    const { whole, headers } = blocksKeptBy(this, root, headersBelow);
    for (const block of this.blocks.values()) {
      if (whole.has(block)) continue;
      block.transactions = [];
      block.accepted = undefined;
      block.isHeaderOnly = true;
      if (!headers.has(block)) this.blocks.delete(block.hash);
    }
    for (const block of this.blocks.values()) this.forgetRelations(block);
    for (const block of this.chain.splice(0)) {
      block.chainIndex = this.isKnown(block) ? this.chain.push(block) - 1 : undefined;
    }
    this.roots.push(root);
  }

  find(hash: string): DagBlock | undefined {
    return this.blocks.get(hash);
  }

  /** Throws if the block is unknown. */
  get(hash: string): DagBlock {
    return this.stored(hash);
  }

  /** Returns any variant of a transaction id. */
  findTransaction(transactionId: string): DagTransaction | undefined {
    return this.transactions.get(transactionId);
  }

  findAcceptingBlock(transactionId: string): DagBlock | undefined {
    return this.acceptingBlocks.get(transactionId);
  }

  /** From genesis, or the lowest header that was not pruned, to the sink. */
  get chainBlocks(): readonly DagBlock[] {
    return this.chain;
  }

  get virtual(): Virtual {
    if (this.currentVirtual === undefined) throw new Error('the DAG has no virtual block yet');
    return this.currentVirtual;
  }

  get sink(): DagBlock {
    return this.virtual.sink;
  }

  /** Genesis, even if it is pruned. */
  get genesis(): DagBlock {
    const [genesis] = this.roots;
    if (genesis === undefined) throw new Error('the DAG is empty');
    return genesis;
  }

  /** The lowest complete block: genesis or the pruning point. */
  get root(): DagBlock {
    return this.roots.at(-1) ?? this.genesis;
  }

  /** Genesis first. */
  get pruningPoints(): readonly DagBlock[] {
    return this.roots;
  }

  get size(): number {
    return this.blocks.size;
  }

  /** Parents before children. */
  allBlocks(): IterableIterator<DagBlock> {
    return this.blocks.values();
  }

  tips(): DagBlock[] {
    return [...this.blocks.values()].filter((block) => block.children.length === 0);
  }

  private stored(hash: string): StoredBlock {
    const block = this.blocks.get(hash);
    if (block === undefined) throw new Error(`block ${hash} is not in the DAG`);
    return block;
  }

  private isKnown({ hash }: DagBlock): boolean {
    return this.blocks.has(hash);
  }

  private forgetRelations(block: StoredBlock): void {
    const known = (blocks: readonly DagBlock[]) => blocks.filter((other) => this.isKnown(other));
    const { selectedParent } = block;
    block.parents = known(block.parents);
    block.children = known(block.children);
    block.selectedParent = selectedParent && known([selectedParent])[0];
    block.mergeSetBlues = known(block.mergeSetBlues);
    block.mergeSetReds = known(block.mergeSetReds);
    block.mergeSet = known(block.mergeSet);
  }

  private joinChain(block: StoredBlock): void {
    block.chainIndex = this.chain.push(block) - 1;
    this.setMergingBlock(block.mergeSet, block);
    for (const { transaction } of block.accepted ?? []) {
      this.acceptingBlocks.set(toHex(transaction.transactionId), block);
    }
  }

  private leaveChain(block: StoredBlock): void {
    block.chainIndex = undefined;
    this.setMergingBlock(block.mergeSet, undefined);
    for (const { transaction } of block.accepted ?? []) this.acceptingBlocks.delete(toHex(transaction.transactionId));
  }

  private setMergingBlock(mergeSet: readonly DagBlock[], mergingBlock: DagBlock | undefined): void {
    for (const { hash } of mergeSet) this.stored(hash).mergingBlock = mergingBlock;
  }
}

export function compareByBlueWork(a: DagBlock, b: DagBlock): number {
  if (a.header.blueWork !== b.header.blueWork) return a.header.blueWork < b.header.blueWork ? -1 : 1;
  if (a.hash === b.hash) return 0;
  return a.hash < b.hash ? -1 : 1;
}

function inAcceptanceOrder(selectedParent: DagBlock | undefined, mergeSet: DagBlock[]): DagBlock[] {
  if (selectedParent === undefined) return [];
  return [selectedParent, ...mergeSet.filter((block) => block !== selectedParent).sort(compareByBlueWork)];
}

/**
 * Returns the blocks that a node keeps when its pruning point moves: whole ones are the pruning
 * point, its future, and the part of its anticone in the past of its future; headers are the
 * mergesets below. Source: rusty-kaspa, `PruningProcessor::prune`, which keeps more headers.
 */
function blocksKeptBy(dag: Dag, root: DagBlock, headersBelow: number): Record<'whole' | 'headers', Set<DagBlock>> {
  const { chainIndex } = root;
  if (chainIndex === undefined) throw new RangeError(`block ${root.hash} is not on the chain`);
  const whole = new Set([root]);
  for (const block of dag.allBlocks()) if (block.parents.some((parent) => whole.has(parent))) whole.add(block);
  // The set grows during the loop.
  for (const block of whole) {
    if (block === root) continue;
    const above = block.parents.filter(({ mergingBlock }) => (mergingBlock?.chainIndex ?? Infinity) > chainIndex);
    for (const parent of above) whole.add(parent);
  }
  let lowest = Math.max(0, chainIndex - headersBelow + 1);
  for (const { mergeSet } of whole) {
    for (const { mergingBlock } of mergeSet) lowest = Math.min(lowest, mergingBlock?.chainIndex ?? lowest);
  }
  const headers = dag.chainBlocks.slice(lowest, chainIndex + 1).flatMap(({ mergeSet }) => mergeSet);
  return { whole, headers: new Set(headers) };
}
