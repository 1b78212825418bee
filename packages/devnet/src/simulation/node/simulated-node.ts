import {
  difficultyFromBits,
  fromHex,
  genesisBlock,
  getNetwork,
  type Hash,
  type Header,
  headerHash,
  isCoinbase,
  type Network,
  type ScriptPublicKey,
  type Transaction,
  type Utxo,
} from '@kasgres/kaspa';
import { type ChainChange, Dag, type DagBlock } from '../../dag/dag.ts';
import type {
  BlockTemplate,
  MempoolEntriesOfScript,
  MempoolEntry,
  MempoolFilter,
  NodeEvent,
  NodeState,
  SubmitBlockResult,
} from '../../dag/node-state.ts';
import { MassBudget, withDerived } from '../../economy/build-transaction.ts';
import { hasValidScripts } from '../../economy/signatures.ts';
import { createdEntries, spentKeysOf, type UtxoEntry } from '../../economy/utxo.ts';
import { BlockRuleError } from '../consensus/block-rules.ts';
import type { Block } from '../consensus/block.ts';
import { type BlockBody, type ChainMove, Consensus, withAcceptance } from '../consensus/consensus.ts';
import { type ConsensusParams, SIMNET_PARAMS } from '../consensus/params.ts';
import { assembleBlock, checkSubmittedHeader } from './assemble-block.ts';
import { Mempool } from './mempool.ts';

export interface SimulatedNodeOptions {
  params?: ConsensusParams;
  /** Unix milliseconds. */
  now: () => number;
  /** Persists a block before it is announced; returns it or an equal one. */
  keep?: (body: BlockBody) => BlockBody;
  /**
   * Headers commit to the UTXO set as a real node's do, which costs about a millisecond per block.
   */
  commitsToUtxos?: boolean;
}

const SYNCED_WITHIN_MS = 661_000;
const RESTORED_BLOCKS_PER_VIRTUAL = 256;

/** Keeps consensus, mempool and the DAG that the RPC reads consistent. */
export class SimulatedNode implements NodeState {
  readonly network: Network = getNetwork('simnet');
  readonly serverVersion = '2.1.0';
  readonly isUtxoIndexed = true;
  readonly dag = new Dag();
  readonly consensus: Consensus;
  readonly mempool: Mempool;
  /**
   * Unix milliseconds. Never before the past median time, which each block raises: else a clock
   * that a test stops, or the latest time that a block may claim, would leave no valid time for the
   * next block.
   */
  readonly now: () => number;
  /** Ascending by key: by transaction id, then by index as little-endian bytes. */
  private pruningPointUtxos: readonly UtxoEntry[] = [];
  private readonly keep: (body: BlockBody) => BlockBody;
  private readonly listeners = new Set<(event: NodeEvent) => void>();
  /** The greatest supply since the start, as kaspad reports it. */
  private greatestSupply = 0n;

  constructor(options: SimulatedNodeOptions) {
    const { params = SIMNET_PARAMS, now, keep = (body) => body, commitsToUtxos = false } = options;
    const { header, transactions } = genesisBlock(this.network);
    const genesis = { hash: this.network.genesisHash, header, transactions: transactions.map(withDerived) };
    this.consensus = new Consensus({ params, genesis, hasValidScripts, commitsToUtxos });
    this.mempool = new Mempool(this.consensus, (id) => this.dag.findTransaction(id) !== undefined);
    this.now = () => Math.max(now(), this.consensus.virtual.pastMedianTime);
    this.keep = keep;
    this.addToDag(this.consensus.genesis);
    this.moveDag({ removed: [], added: [withAcceptance(this.consensus.genesis)] });
  }

  get isSynced(): boolean {
    return this.now() < Number(this.consensus.sink.header.timestamp) + SYNCED_WITHIN_MS;
  }

  get pruningPoint(): string {
    return this.consensus.pruningPoint.id;
  }

  /** Returns the UTXO set that the node serves over p2p. */
  pruningPointSet(): { pruningPointHash: Hash; utxos: readonly Utxo[] } {
    return { pruningPointHash: this.consensus.pruningPoint.hash, utxos: this.pruningPointUtxos };
  }

  /**
   * Moves the pruning point to a block (hex) of the selected chain. The journal does not record it:
   * a restored node has everything again.
   * @param headersBelow the least depth, in chain blocks, to which headers are kept; a node keeps
   * thousands
   */
  prune(hash: string, headersBelow = 3): void {
    const { chainIndex } = this.dag.root;
    this.consensus.prune(fromHex(hash));
    this.resolveVirtual();
    const above = this.dag.chainBlocks.slice(Number(chainIndex) + 1, Number(this.dag.get(hash).chainIndex) + 1);
    const utxos = new Map(this.pruningPointUtxos.map((entry) => [entry.key, entry]));
    for (const { header, accepted = [] } of above) {
      for (const { transaction } of accepted) {
        for (const key of spentKeysOf(transaction)) utxos.delete(key);
        const created = createdEntries(transaction, Number(header.daaScore), isCoinbase(transaction));
        for (const entry of created) utxos.set(entry.key, entry);
      }
    }
    this.pruningPointUtxos = [...utxos.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    this.dag.prune(hash, headersBelow);
  }

  /** Throws `BlockRuleError` if the block is invalid. */
  receive(body: BlockBody): Block {
    const block = this.consensus.add(body, this.keep);
    this.mempool.handleBlock(body.transactions);
    this.emit({ kind: 'blockAdded', block: this.addToDag(block) });
    this.resolveVirtual();
    return block;
  }

  /** Adds persisted blocks in their old order, without events. */
  restore(bodies: Iterable<BlockBody>): void {
    for (const body of bodies) {
      this.addToDag(this.consensus.addChecked(body));
      if (this.consensus.size % RESTORED_BLOCKS_PER_VIRTUAL === 0) this.moveDag(this.consensus.resolveVirtual());
    }
    this.resolveVirtual();
  }

  findMempoolEntry(transactionId: string, filter: MempoolFilter): MempoolEntry | undefined {
    return this.mempool.find(transactionId, filter);
  }

  mempoolEntries(filter: MempoolFilter): MempoolEntry[] {
    return this.mempool.entries(filter);
  }

  mempoolEntriesByScript(script: ScriptPublicKey, filter: MempoolFilter): MempoolEntriesOfScript {
    return this.mempool.entriesByScript(script, filter);
  }

  blockTemplate(scriptPublicKey: ScriptPublicKey, extraData: Uint8Array): BlockTemplate {
    const ready = Array.from(this.mempool.ready(), ({ transaction }) => transaction);
    const budget = new MassBudget();
    const { header, transactions } = assembleBlock(this.consensus, {
      virtual: this.consensus.virtual,
      miner: { scriptPublicKey, extraData: Buffer.concat([Buffer.from(`${this.serverVersion}/`), extraData]) },
      payments: ready.filter((payment) => budget.take(payment)),
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
    this.emit({ kind: 'virtualChanged', change: this.moveDag(move) });
    this.emit({ kind: 'newBlockTemplate' });
  }

  private emit(event: NodeEvent): void {
    for (const listener of this.listeners) listener(event);
  }

  private addToDag({ id, header, transactions, bits, ghostdag }: Block): DagBlock {
    return this.dag.add({
      hash: id,
      header,
      selectedParentHash: ghostdag?.selectedParent.id,
      mergeSetBlues: idsOf(ghostdag?.mergeSetBlues ?? []),
      mergeSetReds: idsOf(ghostdag?.mergeSetReds ?? []),
      transactions,
      difficulty: difficultyFromBits(bits),
    });
  }

  private moveDag(move: ChainMove): ChainChange {
    for (const { block: added, acceptance } of move.added) {
      this.dag.setAcceptance(
        added.id,
        acceptance.accepted.map(({ block, index }) => ({ blockHash: block.id, index })),
      );
    }
    const { ghostdag, parents, daaScore, pastMedianTime, bits } = this.consensus.virtual;
    return this.dag.setVirtual({
      sink: ghostdag.selectedParent.id,
      parents: idsOf(parents),
      blueScore: BigInt(ghostdag.blueScore),
      daaScore: BigInt(daaScore),
      pastMedianTime: BigInt(pastMedianTime),
      difficulty: difficultyFromBits(bits),
    });
  }
}

function idsOf(blocks: readonly Block[]): string[] {
  return blocks.map((block) => block.id);
}
