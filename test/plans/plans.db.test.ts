/**
 * Query plans on an index of a million transactions: those of every request, of the steps of
 * streams, and of rare reorgs in the indexer. No table that grows is read from end to end, a page
 * costs the same wherever it is in its listing, and each plan equals the pinned one, which was
 * reviewed. Costs are pages of 8 KiB that Postgres touches, cached or not, because these are the
 * same on every machine, unlike seconds.
 */
import { readFileSync } from 'node:fs';
import { readStep } from '@kasgres/chain-steps';
import { restoreFromBeforeGap } from '@kasgres/indexer/testing';
import { loadActivityAtFork } from '@kasgres/state/testing';
import type { ClientBase, PoolClient, QueryConfig } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_EXAMINED } from '../../packages/api/src/pages/key-page.ts';
import { addressTransactions, addressUtxos } from '../api/listings.ts';
import { explain, findFullReads, type Plan, type PlannedQuery, SMALL_TABLES, toPinnedText } from './explain.ts';
import { fastQueries, findFullReadsOf } from './fast-queries.ts';
import { FILL_DEADLINE_MS, type Harness, openHarness, type RecordedQuery, type Request } from './harness.ts';
import { PAID_BY_ALL, PAID_IN_VAIN } from './large-index-rows.ts';
import { addressOf } from './large-index.ts';
import { listings, owner, pageOf, pagesOf } from './listings.ts';
import { COPIES, findVictims, mineAgain, requestsFor } from './mined-again.ts';
import { findLandmarks, get, type Landmarks, lookUps } from './requests.ts';

/** Plans are pinned on the embedded Postgres: another one may have good reasons for others. */
const PINNED_ON_MAJOR = 18;
const LIMIT = 20;
/** The responses of these endpoints come from the node or need it. */
const FROM_NODE = [
  'post /v1/rpc/getMempoolEntry',
  'get /v1/rpc/getMempoolEntries',
  'post /v1/rpc/getMempoolEntries',
  'post /v1/rpc/getMempoolEntriesByAddresses',
  'post /v1/rpc/getBlockTemplate',
  'get /v1/rpc/getBlockDagInfo',
  'get /v1/rpc/getBlockCount',
  'get /v1/rpc/getFeeEstimate',
  'get /v1/rpc/getInfo',
  'get /v1/rpc/getServerInfo',
  'post /v1/rpc/getSubnetwork',
  'post /v1/rpc/getSeqCommitLaneProof',
  'post /v1/rpc/submitTransaction',
  'post /v1/rpc/submitBlock',
  'get /v1/mempool',
  'get /v1/mempool/{transactionId}',
  'post /v1/transactions/mass',
  // Followed by test/api/stream.db.test.ts.
  'get /v1/stream',
  'post /v1/stream',
  'post /v1/stream/tokens',
  'get /v1/ws',
  // Webhooks are few, and found by their key (test/api/webhooks.db.test.ts).
  'post /v1/webhooks',
  'get /v1/webhooks',
  'get /v1/webhooks/{id}',
  'patch /v1/webhooks/{id}',
  'delete /v1/webhooks/{id}',
  'post /v1/webhooks/{id}/secret',
  'post /v1/webhooks/{id}/test',
  'post /v1/webhooks/{id}/replay',
  'get /v1/webhooks/{id}/deliveries',
];

let harness: Harness;
let landmarks: Landmarks;
const asked: Request[] = [];
const planned: PlannedQuery[] = [];

beforeAll(async () => {
  harness = await openHarness();
  landmarks = await findLandmarks(harness.database.pool);
  // The API reads the state of the index, which it keeps in memory.
  await harness.ask({ method: 'get', url: '/v1/rpc/getCurrentNetwork' });
}, FILL_DEADLINE_MS);
afterAll(async () => {
  await harness?.close();
});

/** Sends a request and records its plans. Returns the cost of the response. */
async function ask(name: string, request: Request): Promise<number> {
  asked.push(request);
  const { status, text, queries } = await harness.ask(request);
  expect(status, `${name}: ${text.slice(0, 300)}`).toBe(200);
  return await explainAll(name, queries);
}

/** Records the plans of queries. Returns their cost. */
async function explainAll(name: string, queries: readonly RecordedQuery[]): Promise<number> {
  let buffers = 0;
  for (const query of queries) {
    const plan = await explain(harness.likeApi, query);
    planned.push({ request: name, query, plan });
    buffers += plan.buffers;
  }
  return buffers;
}

describe.each(Object.entries(listings()))('%s', (name, listing) => {
  test('it reads as many buffers for the first page as for the thousandth and the last, in both directions', async () => {
    const pages = Object.entries(await pagesOf(harness.database.pool, listing, LIMIT));
    const costs: [string, number][] = [];
    for (const [place, request] of pages) costs.push([place, await ask(`${name}, ${place}`, request)]);
    const least = Math.min(...costs.map(([, cost]) => cost));
    // The items of a page cost more or less: unaccepted transactions have no spenders, the newest
    // blocks no merging block.
    expect(costs.filter(([, cost]) => cost > 1.5 * least + 50)).toEqual([]);
  });
});

describe('the size of an address', () => {
  test.each([
    ['transactions', addressTransactions, 10],
    ['UTXOs', addressUtxos, 1],
  ] as const)(
    'it reads as many buffers for a page of %s with a million transactions as with ten',
    async (name, listing, limit) => {
      const large = await ask(`${name} of the address of a million`, pageOf(listing(owner(PAID_BY_ALL)), limit));
      const small = await ask(`${name} of an address of ten`, pageOf(listing(owner(landmarks.ten)), limit));
      expect(large).toBeLessThan(1.5 * small + 20);
    },
  );
});

describe('the other requests', () => {
  test('it serves every request of the list', async () => {
    for (const [name, request] of Object.entries(lookUps(landmarks))) await ask(name, request);
  });

  test('it looks up each of several together at the cost of one', async () => {
    const { transactionIds } = landmarks;
    const ofMany: Record<string, Request[]> = {
      'transactions by id, together': transactionIds.slice(0, 16).map((id) => get(`/v1/transactions/${id}`)),
      'transactions by id with tags, together': transactionIds
        .slice(0, 16)
        .map((id) => get(`/v1/transactions/${id}?include_payload=true&include=tags`)),
      'balances of addresses, together': Array.from({ length: 16 }, (_, index) =>
        get(`/v1/rpc/getBalanceByAddress/${addressOf(1000 + index)}`),
      ),
      ...Object.fromEntries(
        ['transactions', 'utxos'].map((listing) => [
          `${listing} of addresses, together`,
          Array.from({ length: 16 }, (_, index) => get(`/v1/addresses/${addressOf(1000 + index)}/${listing}?limit=5`)),
        ]),
      ),
    };
    for (const [name, requests] of Object.entries(ofMany)) {
      const { statuses, queries } = await harness.askTogether(requests);
      expect(new Set(statuses)).toEqual(new Set([200]));
      const [alone, together] = [false, true].map((isTogether) =>
        queries.find((query) => query.name?.endsWith(', together') === isTogether),
      );
      if (alone === undefined || together === undefined) throw new Error(`${name}: nothing was looked up together`);
      const plan = await explain(harness.likeApi, together);
      planned.push({ request: name, query: together, plan });
      const [, ids] = together.values as [unknown, unknown[]];
      const ofOne = (await explain(harness.likeApi, alone)).buffers;
      expect(plan.buffers, name).toBeLessThan(ids.length * (1.5 * ofOne + 20));
    }
  });

  test('it covers every endpoint that reads the database', () => {
    const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
      paths: Record<string, object>;
    };
    const missing = Object.entries(document.paths).flatMap(([path, methods]) => {
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
      const isAsked = (method: string) =>
        asked.some((request) => request.method === method && pattern.test(request.url));
      return Object.keys(methods)
        .filter((method) => !isAsked(method))
        .map((method) => `${method} ${path}`);
    });
    expect(missing.toSorted()).toEqual(FROM_NODE.toSorted());
  });
});

/** Finds the chain block that is so many below the sink. */
async function findBelow(count: number): Promise<{ index: bigint; hash: string; id: bigint }> {
  const { rows } = await harness.database.pool.query<{ index: bigint; hash: string; id: bigint }>(
    `select index, encode(hash, 'hex') as hash, block_id as id from chain_blocks
      order by index desc offset ${count} limit 1`,
  );
  if (rows[0] === undefined) throw new Error('the chain is too short');
  return rows[0];
}

describe('a step of streams', () => {
  /** A transaction has about ten rows, each of which is looked up in five tables. */
  const MAX_BUFFERS = 20_000;
  const CONFIRMATIONS = [10, 1000];

  test('it reads only the rows of the next step at the sink', async () => {
    const { hash, id: last } = await findBelow(2);
    const request = {
      withIds: true,
      addresses: 'all',
      covenants: 'all',
      confirmations: CONFIRMATIONS,
      blocksAfter: { last },
    } as const;
    const queries = await harness.record(async (index) => {
      const { step, newBlocks } = await readStep(index, hash, request, 'test');
      expect(step).toMatchObject({ isCaughtUp: true, from: hash });
      expect(newBlocks.blocks.length).toBeGreaterThan(0);
    });
    expect(queries).toHaveLength(1);
    expect(await explainAll('the next step of streams', queries)).toBeLessThan(MAX_BUFFERS);
  });

  test('it looks transactions of a long step up by their keys, and no history of an address', async () => {
    const { hash } = await findBelow(500);
    for (const [name, ids] of Object.entries({
      'a long step of an address of a million': [PAID_BY_ALL],
      'a long step of 1,000 addresses': Array.from({ length: 1000 }, (_, index) => 1000 + index),
    })) {
      const request = {
        withIds: false,
        addresses: ids.map(addressOf),
        covenants: undefined,
        confirmations: CONFIRMATIONS,
      };
      const queries = await harness.record((index) => readStep(index, hash, request, 'test'));
      expect(queries).toHaveLength(1);
      await explainAll(name, queries);
      const lines = planned.filter(({ request }) => request === name).flatMap(({ plan }) => plan.lines);
      expect(lines.filter((line) => /transaction_(?:in|out)puts_script_id/.test(line))).toEqual([]);
    }
  });

  test('it reads only the rows of a step of the past', async () => {
    const { hash } = await findBelow(2);
    const covenants = { ids: ['ab'.repeat(32)], templates: ['cd'.repeat(32)] };
    const addresses = [addressOf(PAID_BY_ALL)];
    const request = { withIds: true, addresses, covenants, confirmations: CONFIRMATIONS };
    const queries = await harness.record((index) => readStep(index, hash, request, 'test'));
    expect(await explainAll('a step of a stream', queries)).toBeLessThan(MAX_BUFFERS);
  });
});

describe('the indexer after a reorg', () => {
  let client: PoolClient;
  beforeEach(async () => {
    client = await harness.database.pool.connect();
    await client.query('begin');
  });
  afterEach(async () => {
    await client.query('rollback');
    client.release();
  });

  /** Returns the plans of what it sends, which is rolled back. */
  async function plansOf(run: (client: ClientBase) => Promise<unknown>): Promise<Plan[]> {
    const recorded: RecordedQuery[] = [];
    const query = (first: string | QueryConfig, values: unknown[] = []): Promise<unknown> => {
      const config = typeof first === 'string' ? { text: first, values } : first;
      recorded.push({ text: config.text, values: config.values ?? [], name: config.name });
      return client.query(config);
    };
    await run({ query } as unknown as ClientBase);
    const plans: Plan[] = [];
    for (const each of recorded) plans.push(await explain(client, each));
    return plans;
  }

  test('it reads no history of a busy script whose previous activity is lost', async () => {
    const { index } = await findBelow(1);
    const removed = [{ index: Number(index) + 1, chainTime: 0n, scripts: new Set([PAID_BY_ALL]) }];
    const found = new Map();
    const plans = await plansOf(async (client) => {
      const changes = { removed, removedTouches: new Map<number, number>() };
      const activity = await loadActivityAtFork(client, Number(index), changes, new Map());
      for (const [script, { last }] of activity) found.set(script, typeof last);
    });
    expect(found).toEqual(new Map([[PAID_BY_ALL, 'bigint']]));
    const lines = plans.flatMap((plan) => plan.lines);
    expect(lines.filter((line) => /transaction_(?:in|out)puts_script_id/.test(line))).toEqual([]);
  });

  test('it reads no more of the chain before a gap than may have accepted a transaction', async () => {
    const { rows } = await client.query<{ block: bigint; transaction: bigint }>(
      `select block_id - 3 as block, accepted_transactions[1] as transaction from gaps
         join blocks b on b.hash = gaps.after_block_hash join chain_blocks c on c.block_id = b.id`,
    );
    const [last] = rows;
    if (last === undefined) throw new Error('there is no gap');
    const plans = await plansOf((client) =>
      restoreFromBeforeGap(client, { merged: [last.block], accepted: [last.transaction] }),
    );
    expect(plans).toHaveLength(4);
    const fullReads = plans.flatMap((plan) => plan.fullReads.map((table) => table.replace(/_\d$/, '')));
    expect(fullReads.filter((table) => !SMALL_TABLES.has(table))).toEqual([]);
    expect(Math.max(...plans.map(({ buffers }) => buffers))).toBeLessThan(1000);
  });
});

describe('a large cluster', () => {
  test('it finds the name of a member with one look-up per level of its tree', async () => {
    const { 'the tag of a member deep in a large cluster': request } = lookUps(landmarks);
    if (request === undefined) throw new Error('there is no such request');
    expect(await ask('the tag of a member deep in a large cluster', request)).toBeLessThan(150);
  });
});

test('it examines a bounded number of the rows that a filter drops, and continues from there in both directions', async () => {
  const url = `/v1/addresses/${addressOf(PAID_IN_VAIN)}/transactions?accepted_only=true&limit=${LIMIT}`;
  const walk = async (name: string, direction: string, from: string): Promise<RestPage[]> => {
    const pages: RestPage[] = [];
    for (let cursor: string | undefined = from; cursor !== undefined; ) {
      const request = get(`${url}${cursor}`);
      asked.push(request);
      const { status, text, queries } = await harness.ask(request);
      expect(status).toBe(200);
      expect(await explainAll(name, queries)).toBeLessThan(10 * MAX_EXAMINED + 1000);
      const page = JSON.parse(text) as RestPage;
      pages.push(page);
      const { scannedTo } = page.metadata;
      cursor = scannedTo === undefined ? undefined : `&${direction}=${scannedTo}`;
    }
    return pages;
  };
  expect(landmarks.refused).toBeGreaterThan(MAX_EXAMINED);
  const older = await walk('accepted transactions of an address that is paid in vain', 'starting_after', '');
  expect(older.slice(0, -1).flatMap(({ transactions }) => transactions)).toEqual([]);
  expect(older.map(({ metadata }) => metadata.hasMore)).toEqual(older.map(() => true));
  const newest = older.at(-1)?.transactions ?? [];
  expect(newest).toHaveLength(LIMIT);
  expect(older).toHaveLength(Math.floor(landmarks.refused / MAX_EXAMINED) + 1);

  const before = `&ending_before=${newest[0]?.transactionId}`;
  const newer = await walk('accepted transactions before the newest one', 'ending_before', before);
  expect(newer.flatMap(({ transactions }) => transactions)).toEqual([]);
  expect(newer.map(({ metadata }) => metadata.hasMore)).toEqual([...newer.slice(1).map(() => true), false]);
});

test('it loses no row at the end of what a filter examines', async () => {
  const { rows } = await harness.database.pool.query<{ id: string }>(
    `select encode(t.transaction_id, 'hex') as id
       from (select distinct transaction_id as key from script_deltas
         where script_id = ${PAID_IN_VAIN}) touched
       join transactions t on t.id = touched.key order by t.id desc limit ${landmarks.refused + 1}`,
  );
  const accepted = rows.at(-1)?.id;
  /** Returns the page whose first accepted transaction has as many others before it. */
  const pageBehind = async (dropped: number): Promise<RestPage> => {
    const cursor = rows[landmarks.refused - dropped - 1]?.id;
    const url = `/v1/addresses/${addressOf(PAID_IN_VAIN)}/transactions?accepted_only=true&starting_after=${cursor}`;
    return JSON.parse((await harness.ask(get(url))).text) as RestPage;
  };
  expect(await pageBehind(MAX_EXAMINED - 1)).toMatchObject({
    transactions: [{ transactionId: accepted }],
    metadata: { hasMore: true, count: 1, scannedTo: accepted },
  });
  expect(await pageBehind(MAX_EXAMINED)).toMatchObject({
    transactions: [],
    metadata: { hasMore: true, count: 0, scannedTo: rows.at(-2)?.id },
  });
});

interface RestPage {
  transactions: { transactionId: string }[];
  metadata: { hasMore: boolean; count: number; scannedTo?: string };
}

test('it reads little more than a range of time of an address with a million transactions', async () => {
  const { time } = landmarks;
  const ofBlock = `/v1/addresses/${addressOf(PAID_BY_ALL)}/transactions?limit=100&from=${time}&to=${time + 1}`;
  const cost = await ask('transactions of a chain block of the address of a million', { method: 'get', url: ofBlock });
  // Ten thousand older ones might have been accepted late, and are looked up one by one.
  expect(cost).toBeLessThan(10 * 10_000 + 1000);
});

/** An exchange at its busiest: every rule is asked, and the newest transactions are looked at. */
test('it reads only the newest 200 transactions for the labels of an address with a million', async () => {
  const client = await harness.likeApi.connect();
  try {
    await client.query('begin');
    await client.query(
      `update balances set accepted_count = 1000000, sending_count = 400000, coinbase_count = 0,
        first_seen = 0 where script_id = ${PAID_BY_ALL}`,
    );
    const { rows } = await client.query<{ labels: string[] }>(`select automatic_labels(${PAID_BY_ALL}) as labels`);
    expect(rows[0]?.labels).toContain('exchange-like');
    const plan = await explain(client, { text: `select automatic_labels(${PAID_BY_ALL})`, values: [] });
    expect(plan.buffers).toBeLessThan(200 * 3 * 5);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('it reads no whole table for the queries that docs/sql.md calls fast, with any settings', async () => {
  // For longer ranges, Postgres scans these small tables rather than look up each row in ten
  // partitions.
  const queries = fastQueries(landmarks, { hours: 6, chainBlocks: 20 });
  expect(await findFullReadsOf(queries, [harness.likeApi, harness.likeApiUnconfigured])).toEqual([]);
});

/**
 * Returns what responses cost and how long they are. Their plans are not pinned, since they are
 * those of other requests.
 */
async function costsOf(requests: Readonly<Record<string, Request>>) {
  const costs: Record<string, { buffers: number; bytes: number }> = {};
  for (const [name, request] of Object.entries(requests)) {
    const { status, text, queries } = await harness.ask(request);
    expect(status, `${name}: ${text.slice(0, 300)}`).toBe(200);
    let buffers = 0;
    for (const query of queries) buffers += (await explain(harness.likeApi, query)).buffers;
    costs[name] = { buffers, bytes: text.length };
  }
  return costs;
}

describe('what anybody can mine again and again', () => {
  test('it reads as much for transactions in thousands of blocks whose outputs hundreds claim to spend', async () => {
    const { pool } = harness.database;
    const victims = await findVictims(pool);
    const requests = requestsFor(victims);
    const before = await costsOf(requests);
    await mineAgain(pool, victims);
    for (const [name, { buffers, bytes }] of Object.entries(await costsOf(requests))) {
      expect(buffers, name).toBeLessThan(4 * (before[name]?.buffers ?? 0) + 1000);
      expect(bytes, name).toBeLessThan(2 ** 20);
    }
    const { text } = await harness.ask(requests['one transaction']);
    const { transaction } = JSON.parse(text) as { transaction: { blockHashes: string[]; blockCount: number } };
    expect(transaction.blockHashes).toHaveLength(16);
    expect(transaction.blockHashes).toContain(victims.at(-1)?.containing);
    expect(transaction.blockCount).toBeGreaterThan(COPIES);
  });
});

describe('plans', () => {
  test('it reads no whole table that grows', () => {
    const scans = planned.flatMap(({ request, plan }) =>
      plan.fullReads.filter((table) => !SMALL_TABLES.has(table)).map((table) => `${request}: ${table}`),
    );
    expect(scans).toEqual([]);
  });

  test('it reads no whole table that grows with the default settings of Postgres', async () => {
    const scans: string[] = [];
    for (const { request, query } of planned) {
      const tables = await findFullReads(harness.likeApiUnconfigured, query);
      scans.push(...tables.filter((table) => !SMALL_TABLES.has(table)).map((table) => `${request}: ${table}`));
    }
    expect([...new Set(scans)]).toEqual([]);
  });

  test('it responds with one prepared statement, or with queries that are planned for their parameters', () => {
    const ofRequest = Map.groupBy(planned, ({ request }) => request);
    const mixed = [...ofRequest].filter(([request, queries]) => {
      const prepared = queries.filter(({ query }) => query.name !== undefined);
      // Responses of /rest are made of those of statements and more.
      return !request.startsWith('their ') && prepared.length > 0 && prepared.length < queries.length;
    });
    expect(mixed.map(([request]) => request)).toEqual([]);
  });

  test('it has the pinned plans', async ({ skip }) => {
    const { rows } = await harness.database.pool.query<{ version: string }>(
      `select current_setting('server_version_num') as version`,
    );
    const major = Math.floor(Number(rows[0]?.version) / 10_000);
    if (major !== PINNED_ON_MAJOR) skip(`plans are pinned on Postgres ${PINNED_ON_MAJOR}, this is ${major}`);
    const pinned = toPinnedText(planned);
    // Anybody can make ids to which Postgres gives the same hash.
    expect(pinned).not.toContain('transactions_transaction_id_text');
    await expect(pinned).toMatchFileSnapshot('pinned-plans.txt');
  });
});
