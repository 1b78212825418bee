/** The tables that the indexer fills by COPY. */
import type { DaaScore, Kind } from '@kasgres/kaspa';
import type { CopyBuffer } from './copy-buffer.ts';
import {
  bigint,
  boolean,
  bytea,
  type CopyRowOf,
  type CopyColumn,
  defineCopyTable,
  integer,
  key,
  keys,
  nullable,
  numeric,
  reference,
  smallint,
  text,
} from './define-copy-table.ts';

export type BlockKey = Kind<number, 'block_id'>;
export type TransactionKey = Kind<number, 'transaction_id'>;
export type ScriptKey = Kind<number, 'script_id'>;

/** The running maximum of the timestamps of the chain, Unix milliseconds. */
export type ChainTime = Kind<bigint, 'timestamp' | 'chain_time'>;

const blockKey: CopyColumn<BlockKey, bigint> = key;
const transactionKey: CopyColumn<TransactionKey, bigint> = key;
const scriptKey: CopyColumn<ScriptKey, bigint> = key;
const scriptKeys: CopyColumn<readonly ScriptKey[], bigint[]> = keys;
const transactionKeys: CopyColumn<readonly TransactionKey[], bigint[]> = keys;
const chainTime: CopyColumn<ChainTime, bigint> = bigint;
const daaScore: CopyColumn<DaaScore, bigint> = bigint;

/** The tables that a batch adds rows to. */
export const BATCH_TABLES = {
  blocks: defineCopyTable('blocks', {
    id: blockKey,
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
    selected_parent_id: nullable(reference<'block_id', 'selected_parent_id'>()),
    merge_set_blues: keys,
    merge_set_reds: keys,
    is_chain_block: boolean,
    merging_block_id: nullable(reference<'block_id', 'merging_block_id'>()),
    miner_script_id: nullable(scriptKey),
    subsidy: nullable(bigint),
    is_blue: nullable(boolean),
    transaction_count: integer,
  }),
  pre_bootstrap_blocks: defineCopyTable('pre_bootstrap_blocks', { id: blockKey, hash: bytea }),
  block_parents: defineCopyTable('block_parents', {
    block_id: key,
    index: smallint,
    parent_id: reference<'block_id', 'parent_id'>(),
  }),
  chain_blocks: defineCopyTable('chain_blocks', {
    index: key,
    block_id: key,
    daa_score: bigint,
    timestamp: bigint,
    accepted_transactions: transactionKeys,
    chain_time: chainTime,
    highest_transaction: reference<'transaction_id', 'highest_transaction'>(),
    lowest_transaction: reference<'transaction_id', 'lowest_transaction'>(),
    hash: bytea,
    blue_score: bigint,
  }),
  subnetworks: defineCopyTable('subnetworks', { id: key, subnetwork_id: bytea }),
  transactions: defineCopyTable('transactions', {
    id: transactionKey,
    transaction_id: bytea,
    hash: bytea,
    version: integer,
    lock_time: numeric,
    subnetwork_id: integer,
    gas: numeric,
    payload: bytea,
    storage_mass: numeric,
    compute_mass: numeric,
    json_bytes: integer,
    fee: nullable(bigint),
    accepting_index: nullable(reference<'index', 'accepting_index'>()),
    accepted_variant: nullable(integer),
  }),
  transaction_variants: defineCopyTable('transaction_variants', {
    transaction_id: key,
    variant: integer,
    hash: bytea,
    storage_mass: numeric,
    compute_mass: numeric,
    json_bytes: integer,
  }),
  transaction_variant_inputs: defineCopyTable('transaction_variant_inputs', {
    transaction_id: key,
    variant: integer,
    index: integer,
    signature_script: bytea,
    sig_op_count: integer,
    compute_budget: integer,
  }),
  block_transactions: defineCopyTable('block_transactions', {
    block_id: key,
    index: integer,
    transaction_id: key,
    variant: integer,
  }),
  scripts: defineCopyTable('scripts', {
    id: scriptKey,
    version: integer,
    script: bytea,
    type: text,
    address: nullable(text),
  }),
  transaction_inputs: defineCopyTable('transaction_inputs', {
    transaction_id: key,
    index: smallint,
    previous_transaction_id: nullable(reference<'transaction_id', 'previous_transaction_id'>()),
    previous_transaction_hash: bytea,
    previous_index: key,
    signature_script: bytea,
    sequence: numeric,
    sig_op_count: smallint,
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
  possible_reveals: defineCopyTable('possible_reveals', {
    transaction_id: transactionKey,
    index: integer,
    variant: integer,
    length: integer,
    uses: smallint,
    hash: bytea,
    template: nullable(bytea),
    kcc_template: nullable(bytea),
  }),
  unmerged_touches: defineCopyTable('unmerged_touches', { block_id: blockKey, script_ids: scriptKeys }),
} as const;

export const UTXOS = defineCopyTable('utxos', {
  transaction_id: key,
  index: integer,
  script_id: key,
  amount: bigint,
  block_daa_score: daaScore,
  is_coinbase: boolean,
  covenant_id: nullable(bytea),
});

export const COVENANT_EVENTS = defineCopyTable('covenant_events', {
  covenant_id: key,
  chain_index: key,
  transaction_id: transactionKey,
  previous_seen: nullable(chainTime),
  position: integer,
  kind: text,
  template_id: nullable(bigint),
  previous_template_id: nullable(bigint),
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
  block_daa_score: daaScore,
  is_coinbase: boolean,
  covenant_id: nullable(bytea),
});

export type BatchRow<Table extends keyof typeof BATCH_TABLES> = CopyRowOf<(typeof BATCH_TABLES)[Table]>;

/** Rows of a batch, by table. */
export type BatchRows = {
  readonly [Table in keyof typeof BATCH_TABLES]: CopyBuffer<BatchRow<Table>>;
};

export function createBatchRows(): BatchRows {
  return Object.fromEntries(
    Object.entries(BATCH_TABLES).map(([name, table]) => [name, table.createBuffer()]),
  ) as unknown as BatchRows;
}
