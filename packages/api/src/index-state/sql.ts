/** Pieces of SQL that many queries share. */
import { type RawBuilder, sql } from 'kysely';

/** Bytes as lower-case hex. Postgres makes the text, which saves a Buffer for each value of a large page. */
export const hex = (column: string): RawBuilder<string> => sql<string>`encode(${sql.ref(column)}, 'hex')`;

/** The same for a column that may be null. */
export const hexOrNull = (column: string): RawBuilder<string | null> => hex(column);

/** A number as decimal digits, for where it goes into JSON as a string anyway. */
export const text = (column: string): RawBuilder<string> => sql<string>`${sql.ref(column)}::text`;

/** The same for a column that may be null. */
export const textOrNull = (column: string): RawBuilder<string | null> => text(column);

/** To compare a key with: it is one of these. */
export const anyOf = (ids: readonly bigint[]): RawBuilder<bigint> => sql<bigint>`any(${ids}::bigint[])`;
