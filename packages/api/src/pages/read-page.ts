/**
 * Reads one page of a listing by key, never by offset: a cursor is looked up once and becomes a position, and the page is the rows next to it,
 * even if items were added or moved meanwhile.
 */
import { type RawBuilder, sql } from 'kysely';
import { notFound } from '../http/errors.ts';
import type { Db } from '../index-state/sql.ts';
import type { PageMetadataJson, PageQuery } from './page-query.ts';

/** The rows that a page needs of its listing. */
export interface Slice<Position> {
  /** Rows begin strictly behind this position, or at the first row of the listing if it is undefined. */
  from: Position | undefined;
  /** Reads against the order of the listing: the rows nearest to `from` first. */
  isBackward: boolean;
  /** One row more than the page has, to know whether more follow. */
  limit: number;
}

export interface Page<Row> {
  /** In the order of the listing, in both directions. */
  rows: Row[];
  metadata: PageMetadataJson;
}

export interface Listing<Cursor, Position, Row> {
  /** Resolves to undefined if the cursor was never an item of this listing. */
  findPosition: (cursor: Cursor) => Promise<Position | undefined>;
  list: (slice: Slice<Position>) => Promise<Row[]>;
}

/** @throws HttpError 404 for an unknown cursor */
export async function readPage<Cursor, Position, Row>(
  query: PageQuery<Cursor>,
  { findPosition, list }: Listing<Cursor, Position, Row>,
): Promise<Page<Row>> {
  const isBackward = query.ending_before !== undefined;
  const cursor = query.ending_before ?? query.starting_after;
  const from = cursor === undefined ? undefined : await findPosition(cursor);
  if (cursor !== undefined && from === undefined) {
    throw notFound(`${isBackward ? 'ending_before' : 'starting_after'} is not an item of this listing`);
  }
  const found = await list({ from, isBackward, limit: query.limit + 1 });
  const rows = found.slice(0, query.limit);
  if (isBackward) rows.reverse();
  return { rows, metadata: { hasMore: found.length > query.limit, count: rows.length } };
}

export interface Direction {
  /** The operator that compares a row with the position that it must be behind. */
  behind: RawBuilder<unknown>;
  /** The sort order that brings the rows nearest to the position first. */
  order: RawBuilder<unknown>;
}

const DOWNWARDS: Direction = { behind: sql`<`, order: sql`desc` };
const UPWARDS: Direction = { behind: sql`>`, order: sql`asc` };

/** Returns the direction of a slice in SQL. @param order that of the listing */
export function directionOf({ isBackward }: Pick<Slice<unknown>, 'isBackward'>, order: 'asc' | 'desc'): Direction {
  return (order === 'asc') === isBackward ? DOWNWARDS : UPWARDS;
}

interface KeySource {
  table: string;
  column: string;
  where?: RawBuilder<unknown>;
}

/** Lists the keys of a slice in a listing with descending keys, nearest to the start of the slice first. */
export async function listKeys(db: Db, { table, column, where }: KeySource, slice: Slice<bigint>): Promise<bigint[]> {
  const { behind, order } = directionOf(slice, 'desc');
  const key = sql.ref(column);
  const conditions = [
    ...(where === undefined ? [] : [where]),
    ...(slice.from === undefined ? [] : [sql`${key} ${behind} ${slice.from}`]),
  ];
  const { rows } = await sql<{ key: bigint }>`
    select ${key} as key from ${sql.table(table)}
    ${conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`}
    order by ${key} ${order} limit ${slice.limit}`.execute(db);
  return rows.map((row) => row.key);
}
