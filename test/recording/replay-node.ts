/**
 * A simulated node in the state of the recorded one at a checkpoint. Its DAG is rebuilt from the
 * blocks recorded so far, and it responds by the node's rules. The mempool and block templates are
 * those of the recording.
 */
import {
  type AcceptedTransaction,
  type BlockTemplate,
  type ChainChange,
  compareByBlueWork,
  Dag,
  type DagBlock,
  type MempoolEntry,
  type MempoolFilter,
  type NewBlock,
  NodeResponseError,
  type NodeEvent,
  type NodeState,
  readHeader,
  readTransaction,
  sinkAnticone,
} from '@kasgres/devnet';
import {
  addressToScript,
  getNetwork,
  type Hash,
  type Network,
  type ScriptPublicKey,
  toHex,
  type Utxo,
} from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { scriptKey, sumOf, type UtxoOracle, utxosAtSink } from '../support/oracle.ts';
import { Acceptance, blocksSeenAt, dagTransaction } from './recorded-blocks.ts';
import { type Checkpoint, type Exchange, exchanges, type Recording } from './recording.ts';

export class ReplayNode implements NodeState {
  readonly dag = new Dag();
  readonly network: Network;
  readonly serverVersion: string;
  readonly isUtxoIndexed = true;
  readonly isUnsafeRpc = true;
  isSynced = false;
  pruningPoint = '';
  checkpoint: Checkpoint;
  /** The change of the chain since the last checkpoint. */
  change: ChainChange = { removed: [], added: [] };

  private readonly checkpoints: Checkpoint[];
  private readonly acceptance: Acceptance;
  /** Also the blocks of later checkpoints. */
  private readonly allBlocks: Map<string, NewBlock>;
  private readonly listeners = new Set<(event: NodeEvent) => void>();
  private mempool: MempoolEntry[] = [];
  private templates: Exchange<'getBlockTemplate'>[] = [];
  private virtualUtxos: UtxoOracle | undefined;
  private maxCirculatingSompi = 0n;
  private isSupplyUncertain = false;

  constructor({ checkpoints }: Recording) {
    const [first, ...rest] = checkpoints;
    const serverInfo = first && exchanges(first, 'getServerInfo')[0]?.response;
    if (first === undefined || serverInfo === undefined) throw new Error('the first checkpoint has no getServerInfo');
    this.network = getNetwork(serverInfo.networkId);
    this.serverVersion = serverInfo.serverVersion;
    this.acceptance = new Acceptance(checkpoints);
    this.allBlocks = new Map(checkpoints.flatMap(blocksSeenAt).map((block) => [block.hash, block]));
    this.checkpoints = rest;
    this.checkpoint = first;
    this.enter(first);
  }

  /** Moves to the next checkpoint. Returns false at the end of the recording. */
  nextCheckpoint(): boolean {
    const next = this.checkpoints.shift();
    if (next === undefined) return false;
    this.enter(next);
    return true;
  }

  findMempoolEntry(transactionId: string, filter: MempoolFilter): MempoolEntry | undefined {
    return this.mempoolEntries(filter).find(({ transaction }) => toHex(transaction.transactionId) === transactionId);
  }

  mempoolEntries({ includeOrphanPool, filterTransactionPool }: MempoolFilter): MempoolEntry[] {
    return this.mempool.filter(({ isOrphan }) => (isOrphan ? includeOrphanPool : !filterTransactionPool));
  }

  mempoolEntriesByScript(
    script: ScriptPublicKey,
    filter: MempoolFilter,
  ): { sending: MempoolEntry[]; receiving: MempoolEntry[] } {
    const key = scriptKey(script);
    const entries = this.mempoolEntries(filter);
    const spent = ({ transaction }: MempoolEntry) =>
      transaction.inputs.flatMap(({ previousOutpoint }) => {
        const id = toHex(previousOutpoint.transactionId);
        const parent = this.dag.findTransaction(id) ?? this.findMempoolEntry(id, EVERY_ENTRY)?.transaction;
        return parent?.outputs[previousOutpoint.index] ?? [];
      });
    const names = (outputs: readonly { scriptPublicKey: ScriptPublicKey }[]) =>
      outputs.some(({ scriptPublicKey }) => scriptKey(scriptPublicKey) === key);
    return {
      sending: entries.filter((entry) => names(spent(entry))),
      receiving: entries.filter(({ transaction }) => names(transaction.outputs)),
    };
  }

  blockTemplate(payScript: ScriptPublicKey, extraData: Uint8Array): BlockTemplate {
    const recorded = this.templates.find(
      ({ request }) =>
        scriptKey(addressToScript(request.payAddress)) === scriptKey(payScript) &&
        Buffer.from(request.extraData).equals(extraData),
    );
    const block = recorded?.response.block;
    if (block?.header === undefined) throw new NodeResponseError('no such block template was recorded');
    return { header: readHeader(block.header), transactions: block.transactions.map(readTransaction) };
  }

  submitBlock(): 'invalid' {
    return 'invalid';
  }

  submitTransaction(): Hash {
    throw new NodeResponseError('a replay accepts no transactions');
  }

  balance(script: ScriptPublicKey): bigint {
    return sumOf(this.utxos(script));
  }

  utxos(script: ScriptPublicKey): Utxo[] {
    return this.utxosOfVirtual().of(script);
  }

  /** Returns the largest supply of all checkpoints so far, as a node does since its start. */
  circulatingSompi(): bigint {
    const now = sumOf(this.utxosOfVirtual().all());
    if (now > this.maxCirculatingSompi) this.maxCirculatingSompi = now;
    return this.maxCirculatingSompi;
  }

  /**
   * True from a reorg on, until the recorded supply is that of the chain again: the node may have
   * counted blocks that the reorg removed.
   */
  get mayReportHigherSupply(): boolean {
    return this.isSupplyUncertain;
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Returns the blocks that the virtual block merges beside the sink. */
  tail(): DagBlock[] {
    return sinkAnticone(this.dag);
  }

  /**
   * Returns the transactions that the virtual block accepts. With one parent, these are all of the
   * sink: they are valid in its own view, since it is on the chain. With several parents, they are
   * known if a block with the same parents was recorded; otherwise undefined.
   */
  acceptedByVirtual(): AcceptedTransaction[] | undefined {
    const { sink, parents } = this.dag.virtual;
    if (parents.length === 1) return sink.transactions.map((transaction) => ({ block: sink, transaction }));
    const mergeSet = [sink, ...this.tail().sort(compareByBlueWork)];
    const names = new Set(mergeSet.map(({ hash }) => hash));
    const sameParents = [...this.allBlocks.values()].filter(
      ({ selectedParentHash, mergeSetBlues, mergeSetReds }) =>
        selectedParentHash === sink.hash &&
        names.symmetricDifference(new Set([...mergeSetBlues, ...mergeSetReds])).size === 0,
    );
    return sameParents
      .map(({ hash }) => this.acceptance.find(hash, mergeSet))
      .find((accepted) => accepted !== undefined);
  }

  private enter(checkpoint: Checkpoint): void {
    this.checkpoint = checkpoint;
    const blocks = blocksSeenAt(checkpoint).sort((a, b) => Number(a.header.blueWork - b.header.blueWork));
    for (const block of blocks) {
      if (this.dag.find(block.hash) !== undefined) continue;
      this.emit({ kind: 'blockAdded', block: this.dag.add(block) });
    }
    const [dagInfo] = exchanges(checkpoint, 'getBlockDagInfo');
    if (dagInfo !== undefined) this.setVirtual(dagInfo.response);
    const [serverInfo] = exchanges(checkpoint, 'getServerInfo');
    if (serverInfo !== undefined) this.isSynced = serverInfo.response.isSynced;
    const everyEntry = exchanges(checkpoint, 'getMempoolEntries').find(
      ({ request }) => request.includeOrphanPool && !request.filterTransactionPool,
    );
    if (everyEntry !== undefined) this.mempool = everyEntry.response.entries.map(mempoolEntry);
    this.templates = exchanges(checkpoint, 'getBlockTemplate');
    this.isSupplyUncertain ||= this.change.removed.length > 0;
    const [supply] = exchanges(checkpoint, 'getCoinSupply');
    if (supply !== undefined && this.acceptedByVirtual() !== undefined) {
      const isOfThisChain = supply.response.circulatingSompi === sumOf(this.utxosOfVirtual().all());
      this.isSupplyUncertain &&= !isOfThisChain;
    }
  }

  private setVirtual(info: protocol.GetBlockDagInfoResponse): void {
    const sink = this.dag.get(info.sink);
    for (let block = sink; block.accepted === undefined; block = block.selectedParent) {
      const accepted = block.selectedParent === undefined ? [] : this.acceptance.find(block.hash, block.mergeSet);
      if (accepted === undefined)
        throw new Error(`the recording lacks the transactions that chain block ${block.hash} accepts`);
      this.dag.setAcceptance(
        block.hash,
        accepted.map((from) => ({
          blockHash: from.block.hash,
          index: from.block.transactions.indexOf(from.transaction),
        })),
      );
      if (block.selectedParent === undefined) break;
    }
    this.change = this.dag.setVirtual({
      sink: info.sink,
      parents: info.virtualParentHashes,
      // The recording lacks the blue score. It matters only for chains longer than the difficulty
      // window.
      blueScore: sink.header.blueScore + 1n,
      daaScore: info.virtualDaaScore,
      pastMedianTime: info.pastMedianTime,
      difficulty: info.difficulty,
    });
    this.pruningPoint = info.pruningPointHash;
    this.virtualUtxos = undefined;
    this.emit({ kind: 'virtualChanged', change: this.change });
  }

  private utxosOfVirtual(): UtxoOracle {
    if (this.virtualUtxos !== undefined) return this.virtualUtxos;
    const accepted = this.acceptedByVirtual();
    if (accepted === undefined)
      throw new NodeResponseError('the recording lacks the transactions that the virtual block accepts');
    this.virtualUtxos = utxosAtSink(this.dag);
    this.virtualUtxos.accept(accepted, this.dag.virtual.daaScore);
    return this.virtualUtxos;
  }

  private emit(event: NodeEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

const EVERY_ENTRY: MempoolFilter = { includeOrphanPool: true, filterTransactionPool: false };

function mempoolEntry({ fee, transaction, isOrphan }: protocol.MempoolEntry): MempoolEntry {
  if (transaction === undefined) throw new Error('a recorded mempool entry without a transaction');
  return { fee, transaction: dagTransaction(transaction), isOrphan };
}
