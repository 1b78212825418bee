/**
 * Walks of the listings, with every limit, while the indexer writes and the network reorganises:
 * what was in a listing throughout a walk, at the same position, is met exactly once and in order.
 * Between requests the network continues by a block now and then, so that it is the number of
 * requests that decides how often the listings change, not the speed of the machine.
 */
import { createKey } from '@kasgres/database';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import {
  findBusiestOwner,
  addresses,
  addressTransactions,
  addressUtxos,
  blocks,
  type Item,
  type Listing,
  listCursors,
  type Owner,
  transactions,
} from './listings.ts';
import { openHarness, type Harness } from './harness.ts';

const LIMITS = Array.from({ length: 100 }, (_, index) => index + 1);
const TIMEOUT_MS = 300_000;
const REQUESTS_PER_BLOCK = 30;

let harness: Harness;
let api: ApiClient;
let busiest: Owner;
let requests = 0;
/** Hashes of blocks that were on the chain when a walk began. */
const onceOnChain = new Set<string>();

beforeAll(async () => {
  harness = await openHarness({ rounds: 30 });
  const { key } = await createKey(harness.database.kysely, { name: 'walker', rateRu: 1e9 });
  api = new ApiClient(harness.api.url, key);
  busiest = await findBusiestOwner(harness.database.pool);
});
afterAll(() => harness?.close());

interface MovingListing {
  describeListing: () => Listing;
  /**
   * UTXOs are spent and balances change, both come back with a reorg; of the others nothing is ever
   * deleted.
   */
  isOnlyAddedTo: boolean;
  /**
   * All these cursors in order; where it is left out, the listing's `positions` has every one that
   * there ever was.
   */
  inOrder?: (pool: Pool, cursors: ReadonlySet<string>) => Promise<string[]>;
}

/**
 * Compares by balance and then by key. The cursor holds both, so that later changes of the balance
 * do not matter.
 */
async function inOrderOfBalances(pool: Pool, cursors: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await pool.query<{ cursor: string }>(
    `select cursor from unnest($1::text[]) cursor join scripts s on s.address = substring(cursor from ':(.*)')
     order by split_part(cursor, ':', 1)::bigint desc, s.id desc`,
    [[...cursors]],
  );
  return rows.map(({ cursor }) => cursor);
}

const LISTINGS: Record<string, MovingListing> = {
  transactions: { describeListing: () => transactions(), isOnlyAddedTo: true },
  blocks: { describeListing: () => blocks(), isOnlyAddedTo: true },
  'transactions of an address': { describeListing: () => addressTransactions(busiest), isOnlyAddedTo: true },
  'UTXOs of an address': { describeListing: () => addressUtxos(busiest), isOnlyAddedTo: false },
  addresses: { describeListing: () => addresses(), isOnlyAddedTo: false, inOrder: inOrderOfBalances },
};

interface Page {
  cursors: string[];
  hasMore: boolean;
}

async function read(listing: Listing, limit: number, cursor: Record<string, string> = {}): Promise<Page> {
  requests += 1;
  if (requests % REQUESTS_PER_BLOCK === 0) harness.simulatedDag.mine(1, 1);
  const { template, values, query, field, cursorOf } = listing;
  const { status, json } = await api.getChecked(template, values, { ...query, limit, ...cursor });
  expect(status, JSON.stringify(json)).toBe(200);
  const cursors = (json[field] as Item[]).map(cursorOf);
  const { hasMore, count } = json['metadata'] as { hasMore: boolean; count: number };
  expect(count).toBe(cursors.length);
  if (hasMore) expect(cursors).toHaveLength(limit);
  else expect(cursors.length).toBeLessThanOrEqual(limit);
  return { cursors, hasMore };
}

/** From the start to the end. */
async function walkForwards(listing: Listing, limit: number, isOnlyAddedTo: boolean): Promise<string[]> {
  let page = await read(listing, limit);
  const met = [...page.cursors];
  while (page.hasMore) {
    page = await read(listing, limit, { starting_after: met.at(-1) as string });
    // Items that are older than an item stay where they are.
    if (isOnlyAddedTo) expect(page.cursors).not.toEqual([]);
    met.push(...page.cursors);
  }
  return met;
}

/**
 * From an item back to the start, which moves on meanwhile. With the item itself, in the order of
 * the listing.
 */
async function walkBackwards(listing: Listing, limit: number, last: string): Promise<string[]> {
  const met = [last];
  let page: Page;
  do {
    page = await read(listing, limit, { ending_before: met[0] as string });
    met.unshift(...page.cursors);
  } while (page.hasMore);
  return met;
}

/**
 * Cursors with the version of their row, if rows of the listing can vanish and come back: then it
 * is another version.
 */
async function listVersions(pool: Pool, listing: Listing, isOnlyAddedTo: boolean): Promise<Map<string, string>> {
  if (isOnlyAddedTo) return new Map((await listCursors(pool, listing.items)).map((cursor) => [cursor, '']));
  const { rows } = await pool.query<{ cursor: string; version: string }>(
    listing.items.replace(' as cursor', ' as cursor, item.xmin::text as version'),
  );
  return new Map(rows.map(({ cursor, version }) => [cursor, version]));
}

describe.each(Object.entries(LISTINGS))('%s', (_name, { describeListing, isOnlyAddedTo, inOrder }) => {
  test(
    'every limit lists the items that exist throughout once, in order, forwards and backwards',
    async () => {
      const listing = describeListing();
      const { pool } = harness.database;
      for (const limit of LIMITS) {
        for (const hash of await listCursors(pool, blocks(true).items)) onceOnChain.add(hash);
        const before = await listVersions(pool, listing, isOnlyAddedTo);
        const forwards = await walkForwards(listing, limit, isOnlyAddedTo);
        const between = await listVersions(pool, listing, isOnlyAddedTo);
        const last = forwards.at(-1) as string;
        const backwards = await walkBackwards(listing, limit, last);
        const after = await listVersions(pool, listing, isOnlyAddedTo);

        const every = new Set([...forwards, ...backwards, ...before.keys(), ...between.keys(), ...after.keys()]);
        const ordered = inOrder ? await inOrder(pool, every) : await listCursors(pool, listing.positions);
        const place = new Map(ordered.map((cursor, index) => [cursor, index]));
        expectOrder(forwards, place);
        expectOrder(backwards, place);
        expectAll(forwards, throughout(before, between));
        const throughoutBack = throughout(between, after).filter(
          (cursor) => (place.get(cursor) as number) <= (place.get(last) as number),
        );
        expectAll(backwards, throughoutBack);
      }
    },
    TIMEOUT_MS,
  );
});

test('the chain was reorganised meanwhile', async () => {
  await harness.atRest();
  const onChain = new Set(await listCursors(harness.database.pool, blocks(true).items));
  expect([...onceOnChain].filter((hash) => !onChain.has(hash))).not.toEqual([]);
});

/** Strictly: nothing twice. */
function expectOrder(met: readonly string[], place: ReadonlyMap<string, number>): void {
  const places = met.map((cursor) => place.get(cursor) ?? -1);
  expect(places).not.toContain(-1);
  expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
}

function expectAll(met: readonly string[], wanted: readonly string[]): void {
  const seen = new Set(met);
  expect(wanted.filter((cursor) => !seen.has(cursor))).toEqual([]);
}

function throughout(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...before].flatMap(([cursor, version]) => (after.get(cursor) === version ? [cursor] : []));
}
