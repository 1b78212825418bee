/** The tables that the indexer fills by COPY. */
import type { CopyBuffer } from './copy-buffer.ts';
import {
  bigint,
  boolean,
  bytea,
  type CopyTable,
  defineCopyTable,
  integer,
  key,
  keys,
  nullable,
  numeric,
  smallint,
  text,
} from './define-copy-table.ts';

/** The tables that a batch adds rows to. */
export const BATCH_TABLES = {
  blocks: defineCopyTable('blocks', {
    id: key,
    hash: bytea,
    version: integer,
    parents_by_level: bytea,
    hash_merkle_root: bytea,
    accepted_id_merkle_root: bytea,
    utxo_commitment: bytea,
    timestamp: bigint,
    bits: key,
    nonce: numeric,
    daa_score: bigint,
    blue_work: numeric,
    blue_score: bigint,
    pruning_point: bytea,
    selected_parent_id: nullable(key),
    merge_set_blues: keys,
    merge_set_reds: keys,
    is_chain_block: boolean,
    merging_block_id: nullable(key),
    is_blue: nullable(boolean),
  }),
  earlier_blocks: defineCopyTable('earlier_blocks', { id: key, hash: bytea }),
  block_parents: defineCopyTable('block_parents', { block_id: key, index: smallint, parent_id: key }),
  chain_blocks: defineCopyTable('chain_blocks', {
    index: key,
    block_id: key,
    daa_score: bigint,
    timestamp: bigint,
    accepted_transactions: keys,
    chain_time: bigint,
  }),
  subnetworks: defineCopyTable('subnetworks', { id: key, subnetwork_id: bytea }),
  transactions: defineCopyTable('transactions', {
    id: key,
    transaction_id: bytea,
    hash: bytea,
    version: integer,
    lock_time: numeric,
    subnetwork_id: key,
    gas: numeric,
    payload: bytea,
    storage_mass: bigint,
    compute_mass: bigint,
    fee: nullable(bigint),
    accepting_block_id: nullable(key),
    accepted_body: nullable(integer),
  }),
  transaction_bodies: defineCopyTable('transaction_bodies', {
    transaction_id: key,
    body: integer,
    hash: bytea,
    storage_mass: bigint,
    compute_mass: bigint,
  }),
  transaction_body_inputs: defineCopyTable('transaction_body_inputs', {
    transaction_id: key,
    body: integer,
    index: integer,
    signature_script: bytea,
    sig_op_count: integer,
    compute_budget: integer,
  }),
  block_transactions: defineCopyTable('block_transactions', {
    block_id: key,
    index: integer,
    transaction_id: key,
    body: integer,
  }),
  scripts: defineCopyTable('scripts', {
    id: key,
    version: integer,
    script: bytea,
    type: text,
    address: nullable(text),
  }),
  transaction_inputs: defineCopyTable('transaction_inputs', {
    transaction_id: key,
    index: integer,
    previous_transaction_id: nullable(key),
    previous_transaction_hash: nullable(bytea),
    previous_index: key,
    signature_script: bytea,
    sequence: numeric,
    sig_op_count: integer,
    compute_budget: integer,
    amount: nullable(bigint),
    script_id: nullable(key),
  }),
  transaction_outputs: defineCopyTable('transaction_outputs', {
    transaction_id: key,
    index: integer,
    amount: bigint,
    script_id: key,
    covenant_authorizing_input: nullable(integer),
    covenant_id: nullable(bytea),
  }),
  address_transactions: defineCopyTable('address_transactions', {
    script_id: key,
    transaction_id: key,
    amount_sent: bigint,
    amount_received: bigint,
  }),
} as const;

export const UTXOS = defineCopyTable('utxos', {
  transaction_id: key,
  index: key,
  script_id: key,
  amount: bigint,
  block_daa_score: bigint,
  is_coinbase: boolean,
});

/** The UTXO set of a coming bootstrap block, while it is being loaded. */
export const LOADED_UTXOS = defineCopyTable('loaded_utxos', {
  transaction_id: bytea,
  index: key,
  amount: bigint,
  script_version: integer,
  script: bytea,
  script_type: text,
  address: nullable(text),
  block_daa_score: bigint,
  is_coinbase: boolean,
  covenant_id: nullable(bytea),
});

/** Rows of a batch, by table. */
export type BatchRows = {
  readonly [Table in keyof typeof BATCH_TABLES]: (typeof BATCH_TABLES)[Table] extends CopyTable<infer Row>
    ? CopyBuffer<Row>
    : never;
};

export function createBatchRows(): BatchRows {
  return Object.fromEntries(
    Object.entries(BATCH_TABLES).map(([name, table]) => [name, table.createBuffer()]),
  ) as unknown as BatchRows;
}
