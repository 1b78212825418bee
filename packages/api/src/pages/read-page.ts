/**
 * One page of a listing by its keys (never by counting rows over): a cursor is looked up once and becomes a position, and the page is
 * the rows next to that position, whatever was added or moved meanwhile.
 */
import { notFound } from '../http/errors.ts';
import type { PageMetadataJson, PageQuery } from './page-query.ts';

/** The rows that a page asks its listing for. */
export interface Slice<Position> {
  /** Rows strictly behind this position in the direction of travel; undefined: from the start of the listing. */
  from: Position | undefined;
  /** Against the order of the listing: the rows nearest to `from` first. */
  isBackward: boolean;
  /** One row more than the page has, to know whether more follow. */
  limit: number;
}

export interface Page<Row> {
  /** In the order of the listing, whichever the direction. */
  rows: Row[];
  metadata: PageMetadataJson;
}

export interface Listing<Cursor, Position, Row> {
  /** Undefined for a cursor that this listing never had. */
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
