/** Requests, with the form of the answer checked against openapi.json; and whole listings, page by page, in both directions. */
import { expect } from 'vitest';
import type { HttpResponse, HttpClient } from './http-client.ts';
import { faultsOf } from './openapi-validator.ts';

type Parameters = Record<string, string | number>;

/** @param template a path of the document; `values` fill its braces */
export async function checkedGet(
  api: HttpClient,
  template: string,
  values: Parameters = {},
  query: Parameters = {},
): Promise<HttpResponse> {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.append(name, String(value));
  const url = parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
  const answer = await api.request(url);
  expect(faultsOf('get', template, answer), `${url}: ${answer.text.slice(0, 500)}`).toEqual([]);
  return answer;
}

/** @param path without parameters in it */
export async function checkedPost(api: HttpClient, path: string, body: unknown): Promise<HttpResponse> {
  const answer = await api.request(path, { body });
  expect(faultsOf('post', path, answer), `${path}: ${answer.text.slice(0, 500)}`).toEqual([]);
  return answer;
}

export interface ListingUnderTest<Item extends object> {
  template: string;
  values?: Parameters;
  query?: Parameters;
  /** Field of the answer. */
  field: string;
  cursorOf: (item: Item) => string;
}

/** Every item of a listing that stands still: forwards, and the same backwards from the last one. */
export async function walk<Item extends object>(
  api: HttpClient,
  listing: ListingUnderTest<Item>,
  limit: number,
): Promise<Item[]> {
  const { template, values, query, field, cursorOf } = listing;
  const read = async (cursor: Parameters): Promise<{ items: Item[]; hasMore: boolean }> => {
    const { status, json } = await checkedGet(api, template, values, { ...query, limit, ...cursor });
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
