/**
 * Pages of listings with descending keys, within a statement of packages/reads. A cursor is looked
 * up once and becomes a key, and the page is the rows next to it, even if items were added or moved
 * meanwhile.
 */
import { type HttpError, notFound, type ParameterOf } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import type { PageMetadataJson, PageQuery } from './page-query.ts';

/** Where a page begins: at the first item of the listing, after the cursor, or before it. */
export type PageStart = 'first' | 'after' | 'before';

export interface PageParameters {
  limit: number;
  cursor?: Uint8Array | undefined;
}

export const startOf = ({ starting_after, ending_before }: PageQuery<unknown>): PageStart =>
  ending_before === undefined ? (starting_after === undefined ? 'first' : 'after') : 'before';

export const cursorOf = <Cursor>({ starting_after, ending_before }: PageQuery<Cursor>): Cursor | undefined =>
  ending_before ?? starting_after;

interface KeySource {
  table: string;
  column: string;
  /** Selects rows by an index. */
  where?: RawBuilder<unknown>;
  filter?: Filter | undefined;
  /** Whether several rows have the same key. */
  isRepeated?: boolean;
  /**
   * Selects the key of the item that the cursor names; null if it is not an item of this listing.
   */
  cursorKey: RawBuilder<bigint | null>;
  /** Makes a page with `is_shown`, which ends before its limit where items are large. */
  bound?: (page: RawBuilder<unknown>, limit: RawBuilder<number>) => RawBuilder<unknown>;
}

/** A condition that may drop any number of rows, which the index does not know. */
interface Filter {
  condition: RawBuilder<unknown>;
  /** Columns that the condition reads, besides the key. */
  columns?: readonly string[];
  /** Selects the cursor of a key. */
  cursorOf: (key: RawBuilder<unknown>) => RawBuilder<unknown>;
}

/**
 * Keys that a page with a filter reads at most, so that its time does not depend on how many are
 * dropped.
 */
export const MAX_EXAMINED = 10_000;

interface KeyOrder {
  table: string;
  column: string;
  isBackward: boolean;
}

const orderBy = ({ column, isBackward }: KeyOrder): RawBuilder<unknown> =>
  sql`order by ${sql.ref(column)} ${isBackward ? sql`asc` : sql`desc`}`;

/**
 * Selects the keys for which a condition holds, of the first MAX_EXAMINED rows.
 * @param rows in this order, with what the condition reads
 */
export const keepWhere = (
  rows: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
  order: KeyOrder,
): RawBuilder<unknown> => sql`
  select ${sql.ref(order.column)}
    from (${rows} limit ${sql.lit(MAX_EXAMINED)}) ${sql.table(order.table)}
  where ${condition} ${orderBy(order)}`;

/** Selects the last of these rows, and those behind it, `limit` together. */
export const fromLastExamined = (rows: RawBuilder<unknown>, limit: number): RawBuilder<unknown> =>
  sql`${rows} offset ${sql.lit(MAX_EXAMINED - 1)} limit ${sql.lit(limit)}`;

/**
 * Builds the parts of a statement that reads a page of keys: `tables` with the keys in `page`, one
 * more than the page has, and `items`, which limits and orders a query of items that joins `page`.
 */
export function keyPage(
  parameter: ParameterOf<PageParameters>,
  start: PageStart,
  { table, column, where, filter, isRepeated, cursorKey, bound }: KeySource,
) {
  const key = sql.ref(column);
  const limit = parameter('limit', 'bigint');
  const isBackward = start === 'before';
  const order = { table, column, isBackward };
  const conditions = [
    ...(where === undefined ? [] : [where]),
    ...(start === 'first' ? [] : [sql`${key} ${isBackward ? sql`>` : sql`<`} (select key from cursor)`]),
  ];
  const rows = (columns: readonly string[] = []) => sql`
    select ${isRepeated === true ? sql`distinct ` : sql``}${sql.join([column, ...columns].map((name) => sql.ref(name)))} from ${sql.table(table)}
    ${conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`} ${orderBy(order)}`;
  const wanted = filter === undefined ? rows() : keepWhere(rows(filter.columns), filter.condition, order);
  const page = keysInOrder(sql`${wanted} limit ${limit} + 1`);
  const lastExamined = sql`(
    select case when count(*) = 2 then ${isBackward ? sql`min` : sql`max`}(${key}) end
    from (${fromLastExamined(rows(), 2)}) last)`;
  return {
    tables: {
      ...(start !== 'first' && { cursor: sql`select ${cursorKey} as key` }),
      page: bound === undefined ? page : bound(page, limit),
    },
    ...pageParts(limit, start, {
      isBounded: bound !== undefined,
      ...(filter !== undefined && { scannedTo: filter.cursorOf(lastExamined) }),
    }),
  };
}

/**
 * Reads rows through an array, of which Postgres expects few: of a limit that is a parameter it
 * expects a tenth of the table, and would hash whole tables.
 */
export const rowsOf = (select: RawBuilder<unknown>): RawBuilder<unknown> => sql`array(${select})`;

/** Makes rows of `key` and `position`, from 1. @param select one column, in order */
export const keysInOrder = (select: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select keys.key, keys.position from unnest(${rowsOf(select)}) with ordinality as keys (key, position)`;

interface PageTraits {
  /** Whether `page` tells which items it shows. */
  isBounded?: boolean;
  /**
   * Selects the cursor of the last row that a filter examined, if there are rows behind it;
   * otherwise null.
   */
  scannedTo?: RawBuilder<unknown>;
}

/**
 * Needs `page` with positions in the order of reading, and `cursor` with a key that is null if it
 * is unknown, except for the first page.
 */
export function pageParts(limit: RawBuilder<number>, start: PageStart, { isBounded, scannedTo }: PageTraits = {}) {
  const isShown = isBounded === true ? sql`page.is_shown` : sql`page.position <= ${limit}`;
  const counted = sql`(select count(*) as found, count(*) filter (where ${isShown}) as shown from page) counted`;
  const fields = sql`'hasMore', found > shown, 'count', shown`;
  return {
    ...(start !== 'first' && {
      problem: sql<string | null>`case when (select key from cursor) is null then ${sql.lit(UNKNOWN_CURSOR)} end`,
    }),
    items: sql`where ${isShown} order by page.position ${start === 'before' ? sql`desc` : sql`asc`}`,
    metadata:
      scannedTo === undefined
        ? sql<PageMetadataJson>`(select json_build_object(${fields}) from ${counted})`
        : sql<PageMetadataJson>`(
          select case when "scannedTo" is null then json_build_object(${fields})
            else json_build_object('hasMore', true, 'count', shown, 'scannedTo', "scannedTo") end
          from ${counted} cross join lateral (select case when found = shown
            then ${scannedTo} end as "scannedTo") examined)`,
  };
}

const UNKNOWN_CURSOR = 'unknown cursor';

/** Makes the errors of the problems that a page may have. */
export const pageProblems = {
  [UNKNOWN_CURSOR]: (_state: unknown, { query }: { query: PageQuery<unknown> }): HttpError =>
    notFound(`${startOf(query) === 'before' ? 'ending_before' : 'starting_after'} is not an item of this listing`),
};
