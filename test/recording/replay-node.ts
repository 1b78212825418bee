/**
 * A node that stands where the recorded one stood at a checkpoint: its DAG is rebuilt from every block recorded up to there,
 * and it answers any hash by the node's rules. What does not follow from the DAG (mempool, templates) it knows as recorded.
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
  /** Where it stands. */
  checkpoint: Checkpoint;
  /** How the chain moved to get there. */
  change: ChainChange = { removed: [], added: [] };

  private readonly checkpoints: Checkpoint[];
  private readonly acceptance: Acceptance;
  /** Every block of the recording, also those of later checkpoints. */
  private readonly allBlocks: Map<string, NewBlock>;
  private readonly listeners = new Set<(event: NodeEvent) => void>();
  private mempool: MempoolEntry[] = [];
  private templates: Exchange<'getBlockTemplate'>[] = [];
  private virtualUtxos: UtxoOracle | undefined;
  private mostCirculatingSompi = 0n;
  private isSupplyInDoubt = false;

  /** Stands at the recording's first checkpoint. */
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
    this.standAt(first);
  }

  /** Moves to the next checkpoint; false at the end of the recording. */
  moveOn(): boolean {
    const next = this.checkpoints.shift();
    if (next === undefined) return false;
    this.standAt(next);
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
    throw new NodeResponseError('a recording takes no transactions');
  }

  balance(script: ScriptPublicKey): bigint {
    return sumOf(this.utxos(script));
  }

  utxos(script: ScriptPublicKey): Utxo[] {
    return this.utxosOfVirtual().of(script);
  }

  /** As the node: the most that there was since it was started, as far as the checkpoints tell. */
  circulatingSompi(): bigint {
    const now = sumOf(this.utxosOfVirtual().all());
    if (now > this.mostCirculatingSompi) this.mostCirculatingSompi = now;
    return this.mostCirculatingSompi;
  }

  /**
   * The node's supply is the most it ever saw, which may have been on a branch that it left. True from a reorganisation on until
   * the recorded supply is again that of the chain: until then the recorded one may be higher.
   */
  get mayHaveSeenMoreSompi(): boolean {
    return this.isSupplyInDoubt;
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** What the virtual block merges beside the sink. */
  tail(): DagBlock[] {
    return sinkAnticone(this.dag);
  }

  /**
   * What the virtual block accepts. Over one parent, all transactions of the sink: they were valid on top of the sink's own
   * view, or it would not be on the chain. Over several parents it is known from the block that was made of this very virtual
   * block, if one was recorded; `undefined` if not.
   */
  acceptedByVirtual(): AcceptedTransaction[] | undefined {
    const { sink, parents } = this.dag.virtual;
    if (parents.length === 1) return sink.transactions.map((transaction) => ({ block: sink, transaction }));
    const mergeSet = [sink, ...this.tail().sort(compareByBlueWork)];
    const names = new Set(mergeSet.map(({ hash }) => hash));
    const madeOfIt = [...this.allBlocks.values()].filter(
      ({ selectedParentHash, mergeSetBlues, mergeSetReds }) =>
        selectedParentHash === sink.hash &&
        names.symmetricDifference(new Set([...mergeSetBlues, ...mergeSetReds])).size === 0,
    );
    return madeOfIt.map(({ hash }) => this.acceptance.find(hash, mergeSet)).find((accepted) => accepted !== undefined);
  }

  private standAt(checkpoint: Checkpoint): void {
    this.checkpoint = checkpoint;
    const blocks = blocksSeenAt(checkpoint).sort((a, b) => Number(a.header.blueWork - b.header.blueWork));
    for (const block of blocks) {
      if (this.dag.find(block.hash) !== undefined) continue;
      this.emit({ kind: 'blockAdded', block: this.dag.add(block) });
    }
    const [dagInfo] = exchanges(checkpoint, 'getBlockDagInfo');
    if (dagInfo !== undefined) this.moveVirtual(dagInfo.response);
    const [serverInfo] = exchanges(checkpoint, 'getServerInfo');
    if (serverInfo !== undefined) this.isSynced = serverInfo.response.isSynced;
    const everyEntry = exchanges(checkpoint, 'getMempoolEntries').find(
      ({ request }) => request.includeOrphanPool && !request.filterTransactionPool,
    );
    if (everyEntry !== undefined) this.mempool = everyEntry.response.entries.map(mempoolEntry);
    this.templates = exchanges(checkpoint, 'getBlockTemplate');
    this.isSupplyInDoubt ||= this.change.removed.length > 0;
    const [supply] = exchanges(checkpoint, 'getCoinSupply');
    if (supply !== undefined && this.acceptedByVirtual() !== undefined) {
      const isOfThisChain = supply.response.circulatingSompi === sumOf(this.utxosOfVirtual().all());
      this.isSupplyInDoubt &&= !isOfThisChain;
    }
  }

  private moveVirtual(info: protocol.GetBlockDagInfoResponse): void {
    const sink = this.dag.get(info.sink);
    for (let block = sink; block.accepted === undefined; block = block.selectedParent) {
      const accepted = block.selectedParent === undefined ? [] : this.acceptance.find(block.hash, block.mergeSet);
      if (accepted === undefined) throw new Error(`the recording does not say what chain block ${block.hash} accepts`);
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
      // The recording does not say it. It counts only for chains longer than the difficulty window.
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
      throw new NodeResponseError('the recording does not say what the virtual block accepts');
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
