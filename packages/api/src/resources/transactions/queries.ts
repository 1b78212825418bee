/**
 * Reads the transactions of whole pages: one query for each kind of row. Every number that JSON shows as a string is made text by
 * Postgres, since pages of blocks have tens of thousands of rows.
 */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { anyOf, hex, hexOrNull, text } from '../../index-state/sql.ts';

/** Of a transaction and its first body, joined with `subnetworks`. */
export const transactionColumns = [
  'transactions.id',
  hex('transactions.transaction_id').as('transaction_id'),
  hex('transactions.hash').as('hash'),
  'transactions.version',
  text('transactions.lock_time').as('lock_time'),
  hex('subnetworks.subnetwork_id').as('subnetwork_id'),
  text('transactions.gas').as('gas'),
  text('transactions.storage_mass').as('storage_mass'),
  text('transactions.compute_mass').as('compute_mass'),
] as const;

export type ContainedRow = Awaited<ReturnType<typeof listContained>>[number];

/** The ids of the transactions that blocks contain, in the order of each block. */
export function listContainedIds(db: Kysely<Database>, blockIds: readonly bigint[]) {
  return db
    .selectFrom('block_transactions as contained')
    .innerJoin('transactions', 'transactions.id', 'contained.transaction_id')
    .select(['contained.block_id', hex('transactions.transaction_id').as('hash')])
    .where('contained.block_id', '=', anyOf(blockIds))
    .orderBy('contained.block_id')
    .orderBy('contained.index')
    .execute();
}

/** The transactions that blocks contain, in the order of each block; hash and masses are those of the body that the block carries. */
export function listContained(db: Kysely<Database>, blockIds: readonly bigint[]) {
  return db
    .selectFrom('block_transactions as contained')
    .innerJoin('transactions', 'transactions.id', 'contained.transaction_id')
    .innerJoin('subnetworks', 'subnetworks.id', 'transactions.subnetwork_id')
    .select(['contained.block_id', 'contained.body', ...transactionColumns, hex('transactions.payload').as('payload')])
    .where('contained.block_id', '=', anyOf(blockIds))
    .orderBy('contained.block_id')
    .orderBy('contained.index')
    .execute();
}

export type InputRow = Awaited<ReturnType<typeof listInputs>>[number];

/** Inputs of first bodies, in order. */
export function listInputs(db: Kysely<Database>, transactionIds: readonly bigint[]) {
  return selectInputs(db, transactionIds).execute();
}

/** The same, not run yet; `previous` is the transaction that made the UTXO, `earlier` the same where it was accepted before a start. */
export function selectInputs(db: Kysely<Database>, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_inputs as input')
    .leftJoin('transactions as previous', 'previous.id', 'input.previous_transaction_id')
    .leftJoin('earlier_transactions as earlier', 'earlier.id', 'input.previous_transaction_id')
    .select([
      'input.transaction_id',
      sql<string>`encode(
        coalesce(previous.transaction_id, earlier.transaction_id, input.previous_transaction_hash), 'hex')`.as(
        'previous_transaction_id',
      ),
      'input.previous_index',
      hex('input.signature_script').as('signature_script'),
      text('input.sequence').as('sequence'),
      'input.sig_op_count',
      'input.compute_budget',
    ])
    .where('input.transaction_id', '=', anyOf(transactionIds))
    .orderBy('input.transaction_id')
    .orderBy('input.index');
}

export type OutputRow = Awaited<ReturnType<typeof listOutputs>>[number];

/** Outputs, in order. */
export function listOutputs(db: Kysely<Database>, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_outputs as output')
    .innerJoin('scripts', 'scripts.id', 'output.script_id')
    .select([
      'output.transaction_id',
      text('output.amount').as('amount'),
      'scripts.version',
      hex('scripts.script').as('script'),
      'scripts.type',
      'scripts.address',
      'output.covenant_authorizing_input',
      hexOrNull('output.covenant_id').as('covenant_id'),
    ])
    .where('output.transaction_id', '=', anyOf(transactionIds))
    .orderBy('output.transaction_id')
    .orderBy('output.index')
    .execute();
}

/** Second and further bodies: what is their own beside their inputs. */
export function listBodies(db: Kysely<Database>, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_bodies')
    .select([
      'transaction_id as id',
      'body',
      hex('hash').as('hash'),
      text('storage_mass').as('storage_mass'),
      text('compute_mass').as('compute_mass'),
    ])
    .where('transaction_id', '=', anyOf(transactionIds))
    .execute();
}

/** Inputs of second and further bodies: what is their own; in order. */
export function listBodyInputs(db: Kysely<Database>, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_body_inputs')
    .select([
      'transaction_id as id',
      'body',
      hex('signature_script').as('signature_script'),
      'sig_op_count',
      'compute_budget',
    ])
    .where('transaction_id', '=', anyOf(transactionIds))
    .orderBy('transaction_id')
    .orderBy('body')
    .orderBy('index')
    .execute();
}
