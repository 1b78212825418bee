/**
 * The state of a node that does not follow from the DAG: mempool, templates, UTXO index, and submitted blocks and transactions. The simulation
 * and recordings implement `NodeState` for the gRPC server.
 */
import type { Hash, Header, Network, ScriptPublicKey, Transaction, Utxo } from '@kasgres/kaspa';
import type { ChainChange, Dag, DagBlock, DagTransaction } from './dag.ts';

/** An error response of the node; the message is kaspad's own text. */
export class NodeResponseError extends Error {
  override name = 'NodeResponseError';
}

export interface MempoolEntry {
  /** Sompi; 0 while an input is unknown. */
  fee: bigint;
  transaction: DagTransaction;
  isOrphan: boolean;
}

/** The pools that a mempool request reads, as in kaspad: (filter, orphans) = (false, false) is the pool alone. */
export interface MempoolFilter {
  includeOrphanPool: boolean;
  filterTransactionPool: boolean;
}

export interface BlockTemplate {
  header: Header;
  transactions: Transaction[];
}

export type SubmitBlockResult = 'accepted' | 'invalid' | 'in-ibd';

/** An event that may notify subscribers. */
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
  /** False: calls for balances, UTXOs and supply fail as on a node without `--utxoindex`. */
  readonly isUtxoIndexed: boolean;
  /** True: hash rates of large windows are allowed, as on a node with `--unsaferpc`. */
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
  /** The transaction's id. Throws `NodeResponseError` with kaspad's message if it is rejected. */
  submitTransaction(transaction: Transaction, allowOrphan: boolean): Hash;

  /** The balance at the virtual block, as in the node's UTXO index: one step ahead of the sink. */
  balance(script: ScriptPublicKey): bigint;
  utxos(script: ScriptPublicKey): Utxo[];
  /** Sompi, of the virtual block. */
  circulatingSompi(): bigint;

  /** Calls the listener for every event. The returned function removes it. */
  onEvent(listener: (event: NodeEvent) => void): () => void;
}
