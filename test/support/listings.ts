/** Reads whole listings of the API, page by page, in both directions. */
import { expect } from 'vitest';
import type { ApiClient, Parameters } from './api-client.ts';

export interface ListingUnderTest<Item extends object> {
  /** A path of openapi.json; `values` fill its braces. */
  template: string;
  values?: Parameters;
  query?: Parameters;
  /** The field of the response that holds the items. */
  field: string;
  cursorOf: (item: Item) => string;
}

/**
 * Returns every item of a listing that does not change: forwards, and expects the same backwards
 * from the last item.
 */
export async function walk<Item extends object>(
  api: ApiClient,
  { template, values, query, field, cursorOf }: ListingUnderTest<Item>,
  limit: number,
): Promise<Item[]> {
  const read = async (cursor: Parameters): Promise<{ items: Item[]; hasMore: boolean }> => {
    const { status, json } = await api.getChecked(template, values, { ...query, limit, ...cursor });
    expect(status, JSON.stringify(json)).toBe(200);
    const items = json[field] as Item[];
    const { hasMore, count } = json['metadata'] as { hasMore: boolean; count: number };
    expect(count).toBe(items.length);
    if (hasMore) expect(items).toHaveLength(limit);
    return { items, hasMore };
  };

  let page = await read({});
  const forwards = [...page.items];
  while (page.hasMore) {
    page = await read({ starting_after: cursorOf(forwards.at(-1) as Item) });
    forwards.push(...page.items);
  }
  const last = forwards.at(-1);
  if (last === undefined) return [];
  const backwards = [last];
  do {
    page = await read({ ending_before: cursorOf(backwards[0] ?? last) });
    backwards.unshift(...page.items);
  } while (page.hasMore);
  expect(backwards).toEqual(forwards);
  return forwards;
}
