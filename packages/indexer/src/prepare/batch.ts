/** What one database transaction applies: rows for COPY, and changes to rows that are there already. Made by prepare, used by apply. */
import { CopyBuffer } from '@kasgres/database';
import type { Hash } from '@kasgres/kaspa';

/** The checkpoint row, as far as batches count from it. */
export interface Checkpoint {
  blockId: number;
  hash: Hash;
  blueScore: bigint;
  chainIndex: number;
  nextBlockId: number;
  nextTransactionId: number;
  nextScriptId: number;
  nextSubnetworkId: number;
  /** The first catch-up leaves utxos, balances and some indexes to its end. */
  firstCatchUp: boolean;
}

export interface Rows {
  blocks: CopyBuffer;
  blockParents: CopyBuffer;
  chainBlocks: CopyBuffer;
  subnetworks: CopyBuffer;
  transactions: CopyBuffer;
  transactionBodies: CopyBuffer;
  transactionBodyInputs: CopyBuffer;
  blockTransactions: CopyBuffer;
  scripts: CopyBuffer;
  inputs: CopyBuffer;
  outputs: CopyBuffer;
  addressTransactions: CopyBuffer;
  utxos: CopyBuffer;
}

/** A block that was written before, and is merged now. */
export interface MergedEarlier {
  block: number;
  mergingBlock: number;
  isBlue: boolean;
}

/** A transaction that was written before, and is accepted now. */
export interface AcceptedEarlier {
  transaction: number;
  acceptingBlock: number;
  body: number | null;
}

export interface Batch {
  /** What the batch was computed from; apply refuses any other (invariant 2). */
  from: Checkpoint;
  to: Checkpoint;
  removed: Hash[];
  rows: Rows;
  mergedEarlier: MergedEarlier[];
  /** Blocks written before that are on the chain now. */
  chainEarlier: number[];
  acceptedEarlier: AcceptedEarlier[];
  /** Coins of the table utxos that are spent. */
  spent: { transaction: number; index: number }[];
  /** Sompi by script. */
  balanceChanges: Map<number, bigint>;
  virtualMergeSet: number[];
  targetBlueScore: bigint;
  /** Estimate until the target is reached; null at the tip. */
  secondsLeft: number | null;
}

export function createRows(): Rows {
  return {
    blocks: new CopyBuffer('blocks', [
      'id',
      'hash',
      'version',
      'parents_by_level',
      'hash_merkle_root',
      'accepted_id_merkle_root',
      'utxo_commitment',
      'timestamp',
      'bits',
      'nonce',
      'daa_score',
      'blue_work',
      'blue_score',
      'pruning_point',
      'selected_parent_id',
      'merge_set_blues',
      'merge_set_reds',
      'is_chain_block',
      'merging_block_id',
      'is_blue',
    ]),
    blockParents: new CopyBuffer('block_parents', ['block_id', 'index', 'parent_id']),
    chainBlocks: new CopyBuffer('chain_blocks', [
      'index',
      'block_id',
      'daa_score',
      'timestamp',
      'accepted_transactions',
    ]),
    subnetworks: new CopyBuffer('subnetworks', ['id', 'subnetwork_id']),
    transactions: new CopyBuffer('transactions', [
      'id',
      'transaction_id',
      'hash',
      'version',
      'lock_time',
      'subnetwork_id',
      'gas',
      'payload',
      'storage_mass',
      'compute_mass',
      'fee',
      'accepting_block_id',
      'accepted_body',
    ]),
    transactionBodies: new CopyBuffer('transaction_bodies', [
      'transaction_id',
      'body',
      'hash',
      'storage_mass',
      'compute_mass',
    ]),
    transactionBodyInputs: new CopyBuffer('transaction_body_inputs', [
      'transaction_id',
      'body',
      'index',
      'signature_script',
      'sig_op_count',
      'compute_budget',
    ]),
    blockTransactions: new CopyBuffer('block_transactions', ['block_id', 'index', 'transaction_id', 'body']),
    scripts: new CopyBuffer('scripts', ['id', 'version', 'script', 'type', 'address']),
    inputs: new CopyBuffer('transaction_inputs', [
      'transaction_id',
      'index',
      'previous_transaction_id',
      'previous_transaction_hash',
      'previous_index',
      'signature_script',
      'sequence',
      'sig_op_count',
      'compute_budget',
      'amount',
      'script_id',
    ]),
    outputs: new CopyBuffer('transaction_outputs', [
      'transaction_id',
      'index',
      'amount',
      'script_id',
      'covenant_authorizing_input',
      'covenant_id',
    ]),
    addressTransactions: new CopyBuffer('address_transactions', [
      'script_id',
      'transaction_id',
      'amount_sent',
      'amount_received',
    ]),
    utxos: new CopyBuffer('utxos', [
      'transaction_id',
      'index',
      'script_id',
      'amount',
      'block_daa_score',
      'is_coinbase',
    ]),
  };
}
