/** The state of a node for the gRPC server. The simulation, recordings and benchmarks implement it. */
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

/** Entries that spend from and pay to a script. */
export type MempoolEntriesOfScript = Record<'sending' | 'receiving', MempoolEntry[]>;

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

  /** @param transactionId hex */
  findMempoolEntry(transactionId: string, filter: MempoolFilter): MempoolEntry | undefined;
  mempoolEntries(filter: MempoolFilter): MempoolEntry[];
  mempoolEntriesByScript(script: ScriptPublicKey, filter: MempoolFilter): MempoolEntriesOfScript;

  /** @param extraData the miner's own, without the node's version */
  blockTemplate(payScript: ScriptPublicKey, extraData: Uint8Array): BlockTemplate;
  submitBlock(header: Header, transactions: Transaction[]): SubmitBlockResult;
  /** Returns the transaction's id. Throws `NodeResponseError` with kaspad's message if it is rejected. */
  submitTransaction(transaction: Transaction, allowOrphan: boolean): Hash;

  /** Returns the balance in sompi at the virtual block, as in the node's UTXO index. */
  balance(script: ScriptPublicKey): bigint;
  utxos(script: ScriptPublicKey): Utxo[];
  /** Returns sompi at the virtual block. */
  circulatingSompi(): bigint;

  /** Calls the listener for every event. The returned function removes it. */
  onEvent(listener: (event: NodeEvent) => void): () => void;
}
