/**
 * Walks of every listing, forwards to the end and backwards to the start: of short ones with every
 * limit. The indexer is stopped, so that every page can be compared with what the database holds;
 * walks-while-writing.db.test.ts has it running.
 */
import { createKey, upsertTags } from '@kasgres/database';
import { insertCluster } from '@kasgres/database/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import {
  findBusiestOwner,
  addresses,
  addressOfHolder,
  addressTransactions,
  addressUtxos,
  blocks,
  clusterMembers,
  inscriptions,
  addressCovenants,
  covenantEvents,
  covenants,
  covenantUtxos,
  templateCovenants,
  templates,
  lanes,
  laneTransactions,
  type Item,
  type Listing,
  listCursors,
  type Owner,
  tags,
  transactions,
} from './listings.ts';
import { openHarness, type Harness } from './harness.ts';
import { pay } from '../support/inscribed-payments.ts';
import { mineRewards, namespaceOf, payInLane } from '../support/lane-payments.ts';
import { APPLICATION_RATE } from '../support/simulated-dag.ts';

const LIMITS = Array.from({ length: 100 }, (_, index) => index + 1);
/** A walk with every limit makes five requests per item and direction. */
const MAX_ITEMS_FOR_EVERY_LIMIT = 300;
const LIMITS_OF_LONG_LISTINGS = [1, 7, 20, 33, 64, 99, 100];
const TIMEOUT_MS = 300_000;
const COMMON_LABEL = 'exchange';
const RARE_LABEL = 'exploit';
const LANE_PAYMENTS = 50;
const BUSY_LANE = 0;

let harness: Harness;
let api: ApiClient;
let busiest: Owner;
let root: Owner;
let busiestCovenant: Awaited<ReturnType<typeof findBusiestCovenant>>;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60, simulation: { applicationRate: APPLICATION_RATE } });
  mineRewards(harness.simulatedDag, 2 * LANE_PAYMENTS);
  for (let made = 0; made < LANE_PAYMENTS; made += 1)
    payInLane(harness.simulatedDag, made % 2 === 0 ? BUSY_LANE : made);
  for (let made = 0; made < LANE_PAYMENTS; made += 1) {
    pay(harness.simulatedDag, {
      payload: Buffer.from(`{"p":"krc-20","op":"mint","tick":"${made % 3 === 0 ? 'RARE' : 'KASP'}"}`),
    });
  }
  await harness.atRest();
  await harness.indexer.stop();
  const { key } = await createKey(harness.database.kysely, { name: 'walker', rateRu: 1e9 });
  api = new ApiClient(harness.api.url, key);
  busiest = await findBusiestOwner(harness.database.pool);
  const cursors = await listCursors(harness.database.pool, addresses().positions);
  const all = cursors.map(addressOfHolder);
  root = await putTogether();
  busiestCovenant = await findBusiestCovenant();
  // Several of one name: then the address decides.
  await upsertTags(
    harness.database.pool,
    all.flatMap((address, place) => {
      const labels = [place % 3 === 0 ? COMMON_LABEL : 'pool', ...(place === 7 ? [RARE_LABEL] : [])];
      return place % 2 === 1 ? [{ address, name: `Owner ${place % 11}`, link: '', labels }] : [];
    }),
  );
});
afterAll(() => harness?.close());

/** Every third address that is in no cluster yet. @returns the root */
async function putTogether(): Promise<Owner> {
  const { rows } = await harness.database.pool.query<{ id: bigint; address: string }>(
    'select id, address from scripts where address is not null and cluster_of(id) is null and id % 3 = 0 order by id desc',
  );
  const [first] = rows;
  if (first === undefined) throw new Error('there are no addresses');
  await insertCluster(
    harness.database.pool,
    rows.map(({ id }) => id),
  );
  return { address: first.address, scriptId: Number(first.id) };
}

const LISTINGS: Record<string, () => Listing> = {
  transactions: () => transactions(),
  'accepted transactions': () => transactions(true),
  blocks: () => blocks(),
  'chain blocks': () => blocks(true),
  addresses: () => addresses(),
  'addresses with a tag': () => addresses(true),
  tags: () => tags(),
  'tags with a label': () => tags(COMMON_LABEL),
  'tags with a label that one has': () => tags(RARE_LABEL),
  'tags with a label that none has': () => tags('nobody'),
  'transactions of an address': () => addressTransactions(busiest),
  'accepted transactions of an address': () => addressTransactions(busiest, true),
  'UTXOs of an address': () => addressUtxos(busiest),
  'members of a cluster': () => clusterMembers(root),
  inscriptions: () => inscriptions(),
  'inscriptions of a tick': () => inscriptions({ tick: 'RARE' }),
  lanes: () => lanes(),
  'transactions of a lane': () => laneTransactions(namespaceOf(BUSY_LANE)),
  'accepted transactions of a lane': () => laneTransactions(namespaceOf(BUSY_LANE), true),
  covenants: () => covenants(),
  'covenants by their creation': () => covenants({ order: 'created' }),
  'covenants with UTXOs': () => covenants({ liveOnly: true }),
  'covenants of a template': () => templateCovenants(busiestCovenant.template),
  'live covenants of a template by their creation': () =>
    covenants({ order: 'created', liveOnly: true, template: busiestCovenant.template }),
  'covenants of an address': () => addressCovenants(busiestCovenant.holder),
  'UTXOs of a covenant': () => covenantUtxos(busiestCovenant.covenantId),
  'events of a covenant': () => covenantEvents(busiestCovenant.covenantId),
  templates: () => templates(),
};

/**
 * Returns the covenant with most events and UTXOs, the template of most covenants, and an address
 * that holds most.
 */
async function findBusiestCovenant(): Promise<{ covenantId: string; template: string; holder: Owner }> {
  const { rows } = await harness.database.pool.query<{
    covenantId: string;
    template: string;
    address: string;
    scriptId: number;
  }>(`
    select
      (select encode(covenant_id, 'hex') from covenants
        order by utxo_count > 1 desc, event_count desc, id limit 1) as "covenantId",
      (select encode(template, 'hex') from program_templates order by covenant_count desc, id
        limit 1) as template,
      held.address, held.id::float8 as "scriptId"
    from (
      select s.address, s.id from utxos u join scripts s on s.id = u.script_id
      where u.covenant_id is not null and s.address is not null
      group by s.id order by count(distinct u.covenant_id) desc, s.id limit 1) held`);
  const [found] = rows;
  if (found === undefined) throw new Error('no address holds a covenant');
  const { covenantId, template, address, scriptId } = found;
  return { covenantId, template, holder: { address, scriptId } };
}

interface Page {
  cursors: string[];
  hasMore: boolean;
}

async function read(listing: Listing, limit: number, cursor: Record<string, string> = {}): Promise<Page> {
  const { template, values, query, field, cursorOf } = listing;
  const { status, json } = await api.getChecked(template, values, { ...query, limit, ...cursor });
  expect(status, JSON.stringify(json)).toBe(200);
  const cursors = (json[field] as Item[]).map(cursorOf);
  const { hasMore, count } = json['metadata'] as { hasMore: boolean; count: number };
  expect(count).toBe(cursors.length);
  return { cursors, hasMore };
}

/** @param items of the whole listing, in order */
async function walk(listing: Listing, items: readonly string[], limit: number): Promise<void> {
  let end = 0;
  let page = await read(listing, limit);
  for (;;) {
    expect(page).toEqual({ cursors: items.slice(end, end + limit), hasMore: end + limit < items.length });
    end += page.cursors.length;
    if (!page.hasMore) break;
    page = await read(listing, limit, { starting_after: items[end - 1] as string });
  }
  for (let start = items.length - 1; start > 0; start -= page.cursors.length) {
    page = await read(listing, limit, { ending_before: items[start] as string });
    expect(page).toEqual({ cursors: items.slice(Math.max(start - limit, 0), start), hasMore: start > limit });
  }
}

describe.each(Object.entries(LISTINGS))('%s', (_name, describeListing) => {
  let listing: Listing;
  let items: string[];
  let positions: string[];

  beforeAll(async () => {
    listing = describeListing();
    items = await listCursors(harness.database.pool, listing.items);
    positions = await listCursors(harness.database.pool, listing.positions);
  });

  test(
    'pages of any limit list every item once, in order, forwards and backwards',
    async () => {
      const limits = items.length <= MAX_ITEMS_FOR_EVERY_LIMIT ? LIMITS : LIMITS_OF_LONG_LISTINGS;
      for (const limit of limits) await walk(listing, items, limit);
    },
    TIMEOUT_MS,
  );

  test('every former or filtered item is a valid cursor', async () => {
    const isItem = new Set(items);
    const passed = positions.filter((cursor) => !isItem.has(cursor)).slice(0, 20);
    for (const cursor of passed) {
      const place = positions.indexOf(cursor);
      const older = positions.slice(place).filter((position) => isItem.has(position));
      const newer = positions.slice(0, place).filter((position) => isItem.has(position));
      const behind = await read(listing, 5, { starting_after: cursor });
      expect(behind).toEqual({ cursors: older.slice(0, 5), hasMore: older.length > 5 });
      const before = await read(listing, 5, { ending_before: cursor });
      expect(before).toEqual({ cursors: newer.slice(-5), hasMore: newer.length > 5 });
    }
  });

  test('an unknown cursor is a 404, a malformed one or two at once a 400', async () => {
    const { template, values, query } = listing;
    const [first = ''] = positions;
    const statusOf = async (cursors: Record<string, string>): Promise<number> =>
      (await api.getChecked(template, values, { ...query, ...cursors })).status;
    for (const name of ['starting_after', 'ending_before']) {
      expect(await statusOf({ [name]: strangerLike(first) })).toBe(404);
      for (const malformed of ['', 'x', `${first}x`, `x${first}`]) {
        expect(await statusOf({ [name]: malformed }), malformed).toBe(400);
      }
    }
    expect(await statusOf({ starting_after: first, ending_before: first })).toBe(400);
    for (const limit of ['0', '101', '-1', '1.5', 'x', '']) expect(await statusOf({ limit }), limit).toBe(400);
  });
});

/** Returns a cursor of the same form that is in no listing. */
function strangerLike(cursor: string): string {
  const stranger = 'kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t';
  return cursor
    .replace(/kaspasim:.*/, stranger)
    .replace(/(?<=^|^\d+:)[0-9a-f]{64}/, 'ab'.repeat(32))
    .replace(/(?<=:)[0-9a-f]{8}$/, 'fedcba98');
}

test('an item of another listing is an unknown cursor', async () => {
  const [transaction = ''] = await listCursors(harness.database.pool, transactions().items);
  const [block = ''] = await listCursors(harness.database.pool, blocks().items);
  const own = new Set(await listCursors(harness.database.pool, addressTransactions(busiest).positions));
  const others = await listCursors(harness.database.pool, transactions().items);
  const foreign = others.find((cursor) => !own.has(cursor)) ?? '';
  const [holder = ''] = await listCursors(harness.database.pool, addresses().positions);
  const untagged = addressOfHolder(holder);
  const [ofOtherLane = ''] = await listCursors(harness.database.pool, laneTransactions(namespaceOf(1)).items);
  const requests: [Listing, string][] = [
    [blocks(), transaction],
    [transactions(), block],
    [addressTransactions(busiest), foreign],
    [addressUtxos(busiest), `${foreign}:0`],
    [addressUtxos(busiest), `${[...own][0]}:4294967295`],
    [tags(), untagged],
    [laneTransactions(namespaceOf(BUSY_LANE)), ofOtherLane],
  ];
  for (const [{ template, values }, cursor] of requests) {
    const { status } = await api.getChecked(template, values, { starting_after: cursor });
    expect(status, `${template} ${cursor}`).toBe(404);
  }
});
