/** The tables of facts that batches fill by COPY, with the columns in the order in which write-rows.ts writes them. */
import { CopyBuffer } from '@kasgres/database';

const COLUMNS = {
  blocks: [
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
  ],
  earlier_blocks: ['id', 'hash'],
  block_parents: ['block_id', 'index', 'parent_id'],
  chain_blocks: ['index', 'block_id', 'daa_score', 'timestamp', 'accepted_transactions', 'chain_time'],
  subnetworks: ['id', 'subnetwork_id'],
  transactions: [
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
  ],
  transaction_bodies: ['transaction_id', 'body', 'hash', 'storage_mass', 'compute_mass'],
  transaction_body_inputs: ['transaction_id', 'body', 'index', 'signature_script', 'sig_op_count', 'compute_budget'],
  block_transactions: ['block_id', 'index', 'transaction_id', 'body'],
  scripts: ['id', 'version', 'script', 'type', 'address'],
  transaction_inputs: [
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
  ],
  transaction_outputs: ['transaction_id', 'index', 'amount', 'script_id', 'covenant_authorizing_input', 'covenant_id'],
  address_transactions: ['script_id', 'transaction_id', 'amount_sent', 'amount_received'],
} as const;

export type Rows = Record<keyof typeof COLUMNS, CopyBuffer>;

export function createRows(): Rows {
  const buffers = Object.entries(COLUMNS).map(([table, columns]) => [table, new CopyBuffer(table, columns)]);
  return Object.fromEntries(buffers) as Rows;
}
