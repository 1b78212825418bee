/** A listing of the API from its first page to its last. */
import type { ApiClient } from '../api-client.ts';

type Json = Record<string, unknown>;

const LIMIT = 100;

/** @param cursorOf an item's own id */
export async function walk(
  api: ApiClient,
  path: string,
  field: string,
  cursorOf: (item: Json) => string,
): Promise<Json[]> {
  const items: Json[] = [];
  for (;;) {
    const last = items.at(-1);
    const cursor = last === undefined ? '' : `&starting_after=${cursorOf(last)}`;
    const { status, body } = await api.get(`${path}${path.includes('?') ? '&' : '?'}limit=${LIMIT}${cursor}`);
    if (status !== 200) throw new Error(`${path} behind ${cursor}: ${JSON.stringify(body)}`);
    const page = body[field] as Json[];
    const { hasMore, count } = body['metadata'] as { hasMore: boolean; count: number };
    if (count !== page.length) throw new Error(`${path} has ${page.length} items and says ${count}`);
    items.push(...page);
    if (!hasMore) return items;
  }
}
