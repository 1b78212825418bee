/**
 * Pages of listings with descending keys, within a statement (index-state/statement.ts). A cursor is looked up once and becomes a key, and the page
 * is the rows next to it, even if items were added or moved meanwhile.
 */
import { type RawBuilder, sql } from 'kysely';
import { type HttpError, notFound } from '../http/errors.ts';
import type { ParameterOf } from '../index-state/statement.ts';
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
  where?: RawBuilder<unknown>;
  /** Whether several rows have the same key. */
  isRepeated?: boolean;
  /** Selects the key of the item that the cursor names; null if it is not an item of this listing. */
  cursorKey: RawBuilder<bigint | null>;
  /** Makes a page with `is_shown`, which ends before its limit where items are large. */
  bound?: (page: RawBuilder<unknown>, limit: RawBuilder<number>) => RawBuilder<unknown>;
}

/**
 * Builds the parts of a statement that reads a page of keys: `tables` with the keys in `page`, one more than the page has, and `items`, which limits
 * and orders a query of items that joins `page`.
 */
export function keyPage(
  parameter: ParameterOf<PageParameters>,
  start: PageStart,
  { table, column, where, isRepeated, cursorKey, bound }: KeySource,
) {
  const key = sql.ref(column);
  const limit = parameter('limit', 'bigint');
  const conditions = [
    ...(where === undefined ? [] : [where]),
    ...(start === 'first' ? [] : [sql`${key} ${start === 'before' ? sql`>` : sql`<`} (select key from cursor)`]),
  ];
  const page = sql`
    select keys.key, keys.position
    from unnest(${rowsOf(sql`
      select ${isRepeated === true ? sql`distinct ` : sql``}${key} from ${sql.table(table)}
      ${conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`}
      order by ${key} ${start === 'before' ? sql`asc` : sql`desc`} limit ${limit} + 1`)}) with ordinality as keys (key, position)`;
  return {
    tables: {
      ...(start !== 'first' && { cursor: sql`select ${cursorKey} as key` }),
      page: bound === undefined ? page : bound(page, limit),
    },
    ...pageParts(limit, start, bound !== undefined),
  };
}

/** Reads rows through an array, of which Postgres expects few: of a limit that is a parameter it expects a tenth of the table, and would hash whole tables. */
export const rowsOf = (select: RawBuilder<unknown>): RawBuilder<unknown> => sql`array(${select})`;

/**
 * Needs `page` with positions in the order of reading, and `cursor` with a key that is null if it is unknown, except for the first page.
 * @param isBounded whether `page` tells which items it shows
 */
export function pageParts(limit: RawBuilder<number>, start: PageStart, isBounded = false) {
  const isShown = isBounded ? sql`page.is_shown` : sql`page.position <= ${limit}`;
  return {
    ...(start !== 'first' && {
      problem: sql<string | null>`case when (select key from cursor) is null then ${sql.lit(UNKNOWN_CURSOR)} end`,
    }),
    items: sql`where ${isShown} order by page.position ${start === 'before' ? sql`desc` : sql`asc`}`,
    metadata: sql<PageMetadataJson>`(
      select json_build_object('hasMore', count(*) > count(*) filter (where ${isShown}), 'count', count(*) filter (where ${isShown})) from page)`,
  };
}

const UNKNOWN_CURSOR = 'unknown cursor';

/** Makes the errors of the problems that a page may have. */
export const pageProblems = {
  [UNKNOWN_CURSOR]: (_state: unknown, { query }: { query: PageQuery<unknown> }): HttpError =>
    notFound(`${startOf(query) === 'before' ? 'ending_before' : 'starting_after'} is not an item of this listing`),
};
