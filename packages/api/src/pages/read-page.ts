/**
 * Reads one page of a listing by key, never by offset: a cursor is looked up once and becomes a
 * position, and the page is the rows next to it, even if items were added or moved meanwhile.
 */
import { notFound } from '@kasgres/reads';
import type { PageMetadataJson, PageQuery } from './page-query.ts';

/** The rows that a page needs of its listing. */
export interface Slice<Position> {
  /**
   * Rows begin strictly behind this position, or at the first row of the listing if it is
   * undefined.
   */
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
