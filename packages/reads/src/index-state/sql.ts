/** Pieces of SQL that many queries share. */
import { type Database, INDEXED_ID_BYTES } from '@kasgres/database';
import { type Kysely, type RawBuilder, sql } from 'kysely';

export type Db = Kysely<Database>;

/**
 * Selects bytes as lower-case hex. Postgres makes the text, which saves a Buffer for each value of
 * a large page.
 */
export const hex = (column: string): RawBuilder<string> => sql<string>`encode(${sql.ref(column)}, 'hex')`;

export const hexOrNull = (column: string): RawBuilder<string | null> => hex(column);

/** Selects a number as decimal digits, for JSON fields that are strings. */
export const text = (column: string): RawBuilder<string> => sql<string>`${sql.ref(column)}::text`;

export const textOrNull = (column: string): RawBuilder<string | null> => text(column);

/** Is the right side of `column = any(keys)`. */
export const anyOf = (keys: readonly bigint[]): RawBuilder<bigint> => sql<bigint>`any(${keys}::bigint[])`;

/** Returns the key of an address's script, or undefined if the address was never seen. */
export async function findScriptId(db: Db, address: string): Promise<bigint | undefined> {
  const row = await db.selectFrom('scripts').select('id').where('address', '=', address).executeTakeFirst();
  return row?.id;
}

/**
 * Compares the id of a row of `transactions` in the form that lets Postgres use the index on ids.
 * @param transactions name or alias of the table
 * @param id bytes
 */
export const hasTransactionId = (transactions: 'transactions' | 't', id: RawBuilder<unknown>): RawBuilder<boolean> => {
  const stored = sql.ref(`${transactions}.transaction_id`);
  return sql`${startOf(stored)} = ${startOf(id)} and ${stored} = ${id}`;
};

const startOf = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`substring(${id} from 1 for ${sql.lit(INDEXED_ID_BYTES)})`;

/** Selects the id of the transaction with a key; null without a key. */
export const transactionIdOf = (key: RawBuilder<unknown>): RawBuilder<string | null> =>
  sql`(select encode(transaction_id, 'hex') from transactions where id = ${key})`;
