/**
 * A simulated node: consensus, mempool and the DAG that its RPC reads, kept consistent. Blocks come from the generator, from clients and, at a
 * start, from a journal; a new block is persisted before it is announced.
 */
import {
  difficultyFromBits,
  fromHex,
  genesisBlock,
  getNetwork,
  type Hash,
  type Header,
  headerHash,
  type Network,
  type ScriptPublicKey,
  type Transaction,
  type Utxo,
} from '@kasgres/kaspa';
import { type ChainChange, Dag, type DagBlock } from '../../dag/dag.ts';
import type {
  BlockTemplate,
  MempoolEntry,
  MempoolFilter,
  NodeEvent,
  NodeState,
  SubmitBlockResult,
} from '../../dag/node-state.ts';
import { withDerived } from '../../economy/build-transaction.ts';
import { MassBudget } from '../../economy/build-transaction.ts';
import { hasValidSignatures } from '../../economy/signatures.ts';
import { BlockRuleError } from '../consensus/block-rules.ts';
import type { Block } from '../consensus/block.ts';
import type { ChainMove } from '../consensus/consensus.ts';
import { type BlockBody, Consensus, type Virtual } from '../consensus/consensus.ts';
import { type ConsensusParams, SIMNET_PARAMS } from '../consensus/params.ts';
import { assembleBlock } from './assemble-block.ts';
import { Mempool } from './mempool.ts';
import { PruningPointUtxos } from './pruning-point-utxos.ts';
import { checkSubmittedHeader } from './assemble-block.ts';

export interface SimulatedNodeOptions {
  params?: ConsensusParams;
  /** Unix milliseconds. */
  now: () => number;
  /** Persists a block before it is announced; returns it or an equal one. */
  keep?: (body: BlockBody) => BlockBody;
  /** True: headers commit to the unspent outputs as a real node's do, at about a millisecond for each block. */
  commitsToUtxos?: boolean;
}

/** A node is synced while its sink is younger than this. */
const SYNCED_WITHIN_MS = 661_000;
/** Blocks of a journal between two virtual blocks while it is read. */
const RESTORE_STEP = 256;

export class SimulatedNode implements NodeState {
  readonly network: Network = getNetwork('simnet');
  readonly serverVersion = '2.1.0';
  readonly isUtxoIndexed = true;
  readonly dag = new Dag();
  readonly consensus: Consensus;
  readonly mempool: Mempool;
  /** The time that the node goes by, Unix milliseconds. */
  readonly now: () => number;
  private readonly pruningPointUtxos = new PruningPointUtxos();
  private readonly keep: (body: BlockBody) => BlockBody;
  private readonly listeners = new Set<(event: NodeEvent) => void>();
  /** The greatest supply since the start, as kaspad reports it. */
  private greatestSupply = 0n;

  constructor(options: SimulatedNodeOptions) {
    const { params = SIMNET_PARAMS, now, keep = (body) => body, commitsToUtxos = false } = options;
    const { header, transactions } = genesisBlock(this.network);
    const genesis = { hash: this.network.genesisHash, header, transactions: transactions.map(withDerived) };
    this.consensus = new Consensus({ params, genesis, hasValidSignatures, commitsToUtxos });
    this.mempool = new Mempool(this.consensus, (id) => this.dag.findTransaction(id) !== undefined);
    this.now = now;
    this.keep = keep;
    addToDag(this.dag, this.consensus.genesis);
    moveDag(this.dag, { removed: [], added: [this.consensus.genesis] }, this.consensus.virtual);
  }

  get isSynced(): boolean {
    return this.now() < Number(this.consensus.sink.header.timestamp) + SYNCED_WITHIN_MS;
  }

  get pruningPoint(): string {
    return this.consensus.pruningPoint.id;
  }

  /** Returns the UTXO set that the node serves over p2p. */
  pruningPointSet(): { pruningPointHash: Hash; utxos: readonly Utxo[] } {
    return { pruningPointHash: this.consensus.pruningPoint.hash, utxos: this.pruningPointUtxos.inOrder() };
  }

  /**
   * Moves the pruning point to any block of the selected chain and deletes what a node deletes then. Afterwards the chain always contains that
   * block, and all new blocks are above it. The journal does not record it: a restored node has everything again.
   * @param hash hex
   * @param headersBelow the least depth, in chain blocks, to which headers are kept; a node keeps thousands
   */
  prune(hash: string, headersBelow = 3): void {
    const { chainIndex } = this.dag.root;
    this.consensus.prune(fromHex(hash));
    this.resolveVirtual();
    const above = this.dag.chainBlocks.slice(Number(chainIndex) + 1, Number(this.dag.get(hash).chainIndex) + 1);
    this.pruningPointUtxos.advance(above);
    this.dag.prune(hash, headersBelow);
  }

  /** Adds a new block of any origin. Throws `BlockRuleError` if it is invalid. */
  receive(body: BlockBody): Block {
    const block = this.consensus.add(body, this.keep);
    this.mempool.handleBlock(body.transactions);
    this.emit({ kind: 'blockAdded', block: addToDag(this.dag, block) });
    this.resolveVirtual();
    return block;
  }

  /** Adds persisted blocks in their old order, without events. */
  restore(bodies: Iterable<BlockBody>): void {
    for (const body of bodies) {
      addToDag(this.dag, this.consensus.addChecked(body));
      if (this.consensus.size % RESTORE_STEP === 0)
        moveDag(this.dag, this.consensus.resolveVirtual(), this.consensus.virtual);
    }
    this.resolveVirtual();
  }

  findMempoolEntry(transactionId: string, filter: MempoolFilter): MempoolEntry | undefined {
    return this.mempool.find(transactionId, filter);
  }

  mempoolEntries(filter: MempoolFilter): MempoolEntry[] {
    return this.mempool.entries(filter);
  }

  mempoolEntriesByScript(
    script: ScriptPublicKey,
    filter: MempoolFilter,
  ): { sending: MempoolEntry[]; receiving: MempoolEntry[] } {
    return this.mempool.entriesByScript(script, filter);
  }

  blockTemplate(scriptPublicKey: ScriptPublicKey, extraData: Uint8Array): BlockTemplate {
    const miner = { scriptPublicKey, extraData: Buffer.concat([Buffer.from(`${this.serverVersion}/`), extraData]) };
    const { virtual } = this.consensus;
    const budget = new MassBudget();
    const payments = this.mempool.ready().filter(({ transaction }) => budget.take(transaction));
    const { header, transactions } = assembleBlock(this.consensus, {
      virtual,
      miner,
      payments: payments.map(({ transaction }) => transaction).toArray(),
      timestamp: this.now(),
      nonce: 0n,
    });
    return { header, transactions: [...transactions] };
  }

  submitBlock(header: Header, transactions: Transaction[]): SubmitBlockResult {
    const hash = headerHash(header);
    if (this.consensus.find(hash) !== undefined) return 'accepted';
    try {
      checkSubmittedHeader(header, this.consensus, this.now());
      this.receive({ hash, header, transactions: transactions.map(withDerived) });
      return 'accepted';
    } catch (error) {
      if (error instanceof BlockRuleError) return 'invalid';
      throw error;
    }
  }

  submitTransaction(transaction: Transaction, allowOrphan: boolean): Hash {
    return this.mempool.submit(transaction, allowOrphan).transactionId;
  }

  balance(script: ScriptPublicKey): bigint {
    return this.consensus.utxos.utxosOf(script).reduce((sum, { amount }) => sum + amount, 0n);
  }

  utxos(script: ScriptPublicKey): Utxo[] {
    return this.consensus.utxos.utxosOf(script);
  }

  circulatingSompi(): bigint {
    return this.greatestSupply;
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private resolveVirtual(): void {
    const move = this.consensus.resolveVirtual();
    if (move.removed.length > 0) this.mempool.revalidate();
    const { total } = this.consensus.utxos;
    if (total > this.greatestSupply) this.greatestSupply = total;
    this.emit({ kind: 'virtualChanged', change: moveDag(this.dag, move, this.consensus.virtual) });
    this.emit({ kind: 'newBlockTemplate' });
  }

  private emit(event: NodeEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

/** Copies the results of consensus into the DAG that the RPC reads: new blocks, the selected chain and the virtual block. */
export function addToDag(dag: Dag, block: Block): DagBlock {
  const { ghostdag } = block;
  return dag.add({
    hash: block.id,
    header: block.header,
    selectedParentHash: ghostdag?.selectedParent.id,
    mergeSetBlues: idsOf(ghostdag?.mergeSetBlues ?? []),
    mergeSetReds: idsOf(ghostdag?.mergeSetReds ?? []),
    transactions: block.transactions,
    difficulty: difficultyFromBits(block.bits),
  });
}

export function moveDag(dag: Dag, move: ChainMove, virtual: Virtual): ChainChange {
  for (const block of move.added) setAcceptance(dag, block);
  return dag.setVirtual({
    sink: virtual.ghostdag.selectedParent.id,
    parents: idsOf(virtual.parents),
    blueScore: BigInt(virtual.ghostdag.blueScore),
    daaScore: BigInt(virtual.daaScore),
    pastMedianTime: BigInt(virtual.pastMedianTime),
    difficulty: difficultyFromBits(virtual.bits),
  });
}

function setAcceptance(dag: Dag, { id, state }: Block): void {
  if (state.kind !== 'qualified') throw new Error(`block ${id} is on the chain without being qualified`);
  dag.setAcceptance(
    id,
    state.acceptance.accepted.map(({ block, index }) => ({ blockHash: block.id, index })),
  );
}

function idsOf(blocks: readonly Block[]): string[] {
  return blocks.map((block) => block.id);
}
