/** Pieces of SQL that many queries share. */
import type { Database } from '@kasgres/database';
import { addressToScript } from '@kasgres/kaspa';
import { type Kysely, type RawBuilder, sql } from 'kysely';

export type Db = Kysely<Database>;

/** Selects bytes as lower-case hex. Postgres makes the text, which saves a Buffer for each value of a large page. */
export const hex = (column: string): RawBuilder<string> => sql<string>`encode(${sql.ref(column)}, 'hex')`;

export const hexOrNull = (column: string): RawBuilder<string | null> => hex(column);

/** Selects a number as decimal digits, for JSON fields that are strings. */
export const text = (column: string): RawBuilder<string> => sql<string>`${sql.ref(column)}::text`;

export const textOrNull = (column: string): RawBuilder<string | null> => text(column);

/** Is the right side of `column = any(keys)`. */
export const anyOf = (keys: readonly bigint[]): RawBuilder<bigint> => sql<bigint>`any(${keys}::bigint[])`;

/** Returns the key of an address's script, or undefined if the address was never seen. */
export async function findScriptId(db: Db, address: string): Promise<bigint | undefined> {
  const { version, script } = addressToScript(address);
  const row = await db
    .selectFrom('scripts')
    .select('id')
    .where('script', '=', Buffer.from(script))
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.id;
}
