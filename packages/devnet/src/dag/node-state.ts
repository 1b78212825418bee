/**
 * What a node answers that does not follow from the DAG: its mempool, templates, the UTXO index, and taking in of blocks and
 * transactions. The gRPC server asks an implementation of `NodeState`: the simulation, or a recording.
 */
import type { Hash, Header, Network, ScriptPublicKey, Transaction, Utxo } from '@kasgres/kaspa';
import type { ChainChange, Dag, DagBlock, DagTransaction } from './dag.ts';

/** An answer of the node that is an error: the message is the node's own text. */
export class NodeResponseError extends Error {
  override name = 'NodeResponseError';
}

export interface MempoolEntry {
  /** Sompi; 0 while an input is unknown. */
  fee: bigint;
  transaction: DagTransaction;
  isOrphan: boolean;
}

/** Which pools a mempool request is about, as the node has it: (filter, orphans) = (false, false) the pool alone. */
export interface MempoolFilter {
  includeOrphanPool: boolean;
  filterTransactionPool: boolean;
}

export interface BlockTemplate {
  header: Header;
  transactions: Transaction[];
}

export type SubmitBlockResult = 'accepted' | 'invalid' | 'in-ibd';

/** Something happened that a subscriber may want to know. */
export type NodeEvent =
  | { kind: 'blockAdded'; block: DagBlock }
  | { kind: 'virtualChanged'; change: ChainChange }
  | { kind: 'newBlockTemplate' };

export interface NodeState {
  readonly network: Network;
  readonly dag: Dag;
  /** As in the node's `serverVersion`: `2.1.0`. */
  readonly serverVersion: string;
  readonly isSynced: boolean;
  /** Hash of the pruning point, hex. */
  readonly pruningPoint: string;
  /** False: balances, UTXOs and supply answer as a node without `--utxoindex`. */
  readonly isUtxoIndexed: boolean;
  /** True: as a node with `--unsaferpc`, which answers hash rates of large windows. */
  readonly isUnsafeRpc?: boolean;

  /** The entry of a transaction id (hex) in the pools that the filter names. */
  findMempoolEntry(transactionId: string, filter: MempoolFilter): MempoolEntry | undefined;
  mempoolEntries(filter: MempoolFilter): MempoolEntry[];
  /** Entries that spend from or pay to a script. */
  mempoolEntriesByScript(
    script: ScriptPublicKey,
    filter: MempoolFilter,
  ): { sending: MempoolEntry[]; receiving: MempoolEntry[] };

  /** `extraData` as the miner gave it, without the node's version. */
  blockTemplate(payScript: ScriptPublicKey, extraData: Uint8Array): BlockTemplate;
  submitBlock(header: Header, transactions: Transaction[]): SubmitBlockResult;
  /** The transaction's id. Throws `NodeResponseError` with the node's words when it is refused. */
  submitTransaction(transaction: Transaction, allowOrphan: boolean): Hash;

  /** Of the virtual block, as the node's UTXO index: one step ahead of the sink. Unknown scripts have none. */
  balance(script: ScriptPublicKey): bigint;
  utxos(script: ScriptPublicKey): Utxo[];
  /** Sompi, of the virtual block. */
  circulatingSompi(): bigint;

  /** Calls the listener for every event until the function returned is called. */
  onEvent(listener: (event: NodeEvent) => void): () => void;
}
