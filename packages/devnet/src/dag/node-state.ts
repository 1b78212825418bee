import type { Hash, Header, Network, ScriptPublicKey, Transaction, Utxo } from '@kasgres/kaspa';
import type { ChainChange, Dag, DagBlock, DagTransaction } from './dag.ts';

/** An error response; the message is kaspad's. */
export class NodeResponseError extends Error {
  override name = 'NodeResponseError';
}

export interface MempoolEntry {
  /** Sompi; 0 while an input is unknown. */
  fee: bigint;
  transaction: DagTransaction;
  isOrphan: boolean;
}

export type MempoolEntriesOfScript = Record<'sending' | 'receiving', MempoolEntry[]>;

/**
 * The pools that a mempool request reads, as in kaspad: (filter, orphans) = (false, false) is the
 * pool alone.
 */
export interface MempoolFilter {
  includeOrphanPool: boolean;
  filterTransactionPool: boolean;
}

export interface BlockTemplate {
  header: Header;
  transactions: Transaction[];
}

export type SubmitBlockResult = 'accepted' | 'invalid' | 'in-ibd';

export type NodeEvent =
  | { kind: 'blockAdded'; block: DagBlock }
  | { kind: 'virtualChanged'; change: ChainChange }
  | { kind: 'newBlockTemplate' };

/**
 * The state of a node for the gRPC server. The simulation, recordings and benchmarks implement it.
 */
export interface NodeState {
  readonly network: Network;
  readonly dag: Dag;
  readonly serverVersion: string;
  readonly isSynced: boolean;
  /** Hex. */
  readonly pruningPoint: string;
  /** As with `--utxoindex`. */
  readonly isUtxoIndexed: boolean;
  /** As with `--unsaferpc`: hash rates of large windows are allowed. */
  readonly isUnsafeRpc?: boolean;

  /** @param transactionId hex */
  findMempoolEntry(transactionId: string, filter: MempoolFilter): MempoolEntry | undefined;
  mempoolEntries(filter: MempoolFilter): MempoolEntry[];
  mempoolEntriesByScript(script: ScriptPublicKey, filter: MempoolFilter): MempoolEntriesOfScript;
  /** @param extraData the miner's own, without the node's version */
  blockTemplate(payScript: ScriptPublicKey, extraData: Uint8Array): BlockTemplate;
  submitBlock(header: Header, transactions: Transaction[]): SubmitBlockResult;
  /**
   * Returns the transaction's id. Throws `NodeResponseError` with kaspad's message if it is
   * rejected.
   */
  submitTransaction(transaction: Transaction, allowOrphan: boolean): Hash;
  /** Sompi at the virtual block, as are the UTXOs and the supply. */
  balance(script: ScriptPublicKey): bigint;
  utxos(script: ScriptPublicKey): Utxo[];
  circulatingSompi(): bigint;
  /** Returns a function that removes the listener. */
  onEvent(listener: (event: NodeEvent) => void): () => void;
}
