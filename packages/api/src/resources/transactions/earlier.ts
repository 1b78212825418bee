/**
 * Transactions that were accepted before a start (`earlier_transactions`): known by the UTXOs that were left of them there, and shown
 * where a block of the index carries them again. Which block accepted them is not known.
 */
import type { Database } from '@kasgres/database';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { hex } from '../../index-state/sql.ts';

/**
 * Whether a transaction was accepted before a start. `offset 0` keeps Postgres from reading the whole table once where it thinks that it
 * will be asked often.
 * @param id column with its key
 */
export const isEarlier = (id: string): RawBuilder<boolean> =>
  sql<boolean>`exists (select from earlier_transactions where earlier_transactions.id = ${sql.ref(id)} offset 0)`;

/** Whether a row of `transactions` is accepted: by a block of the index, else before a start. */
export const isAccepted = (transactions = 'transactions'): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${transactions}.accepting_block_id`)} is not null or ${isEarlier(`${transactions}.id`)})`;

/** Those of the ids, in hex, that were accepted before a start. */
export async function findEarlierIds(
  db: Kysely<Database>,
  transactionIds: readonly Uint8Array[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('earlier_transactions')
    .select(hex('transaction_id').as('id'))
    .where('transaction_id', '=', sql<Buffer>`any(${transactionIds}::bytea[])`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Blue score of the latest start: what is accepted before a start is no higher than that. */
export async function getStartBlueScore(db: Kysely<Database>): Promise<bigint> {
  const { blue_score } = await db
    .selectFrom('starts')
    .innerJoin('blocks', 'blocks.id', 'starts.block_id')
    .select('blocks.blue_score')
    .orderBy('starts.chain_index', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  return blue_score;
}
