/** Pieces that several resources share. */
import { z } from 'zod';
import { pageMetadata } from '../pages/page-query.ts';

/**
 * Returns the common fields of the operations under /v1/rpc, which have the names of calls of the
 * node.
 */
export const rpc = <Method extends 'GET' | 'POST'>(method: Method, operationId: string) =>
  ({ method, url: `/v1/rpc/${operationId}`, operationId, tag: 'Node RPC Proxy', cost: 0.1 }) as const;

type Tag = 'Address' | 'Block' | 'Covenant' | 'Inscription' | 'Lane' | 'Network' | 'Program' | 'Transaction';

/** Returns the common fields of operations that read one item. */
export const lookUp = (tag: Tag, url: string, operationId: string) =>
  ({ method: 'GET', url, operationId, tag, cost: 0.1 }) as const;

/** The cost of one page of a listing, in request units. */
export const PAGE_COST = 0.5;

/** Returns the common fields of listings, where an unknown cursor is a 404. */
export const listing = (tag: Tag, url: string, operationId: string) =>
  ({ method: 'GET', url, operationId, tag, cost: PAGE_COST, errors: [404] }) as const;

/** Makes the response of a listing. */
export const page = <Items extends z.ZodRawShape>(items: Items) => z.object({ ...items, metadata: pageMetadata });

/** Returns a function from a key to its rows in the given order. */
export function groupRows<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): (key: Key) => Row[] {
  const groups = Map.groupBy(rows, keyOf);
  return (key) => groups.get(key) ?? [];
}

const MAX_STORED_SCORE = 2n ** 63n - 1n;

/**
 * Limits a score, which is unsigned on the network, to the signed numbers of Postgres. No block has
 * the highest one.
 */
export const toStoredScore = (score: bigint): bigint => (score > MAX_STORED_SCORE ? MAX_STORED_SCORE : score);
