/**
 * Pre-bootstrap transactions (`earlier_transactions`): accepted before a bootstrap block, and known by their UTXOs in its set. The accepting block
 * is not known. They are in responses if an indexed block contains them again.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Db, hex } from '../../index-state/sql.ts';

/** Tests a column with the key of a transaction. `offset 0` keeps Postgres from hashing the whole table if it expects many rows. */
const isPreBootstrap = (id: string): RawBuilder<boolean> =>
  sql<boolean>`exists (select from earlier_transactions where earlier_transactions.id = ${sql.ref(id)} offset 0)`;

/** Tests whether a row of `transactions` is accepted, by an indexed block or before a bootstrap block. */
export const isAccepted = (transactions = 'transactions'): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${transactions}.accepting_block_id`)} is not null or ${isPreBootstrap(`${transactions}.id`)})`;

/** Returns those of the ids, in hex, that are of pre-bootstrap transactions. */
export async function findPreBootstrapIds(db: Db, transactionIds: readonly Uint8Array[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('earlier_transactions')
    .select(hex('transaction_id').as('id'))
    .where('transaction_id', '=', sql<Buffer>`any(${transactionIds}::bytea[])`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Selects the blue score of the latest bootstrap block: an upper bound for accepting blocks of pre-bootstrap transactions. */
export const bootstrapBlueScore = sql<bigint>`(
  select blocks.blue_score from starts join blocks on blocks.id = starts.block_id order by starts.chain_index desc limit 1)`;
