/**
 * Pages of an address's history on the live API, read by the generated client and by one written by
 * hand: both equal the database. Further promises of the generated client follow.
 */
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { ApiError, type Client, createClient, type Schema } from '../support/client.ts';
import { type Harness, openHarness } from '../api/harness.ts';

interface HandItem {
  transactionId: string;
  balanceChange: string;
}

interface HandPage {
  transactions: HandItem[];
  metadata: { hasMore: boolean; count: number };
}

/**
 * Returns the whole history of an address, newest first, with `fetch` alone and in pages of
 * `limit`, as docs/api.md describes it.
 */
async function historyByHand(url: string, key: string, address: string, limit: number): Promise<HandItem[]> {
  const history: HandItem[] = [];
  let cursor = '';
  for (;;) {
    const path = `/v1/addresses/${address}/transactions?limit=${limit}${cursor}`;
    const response = await fetch(url + path, { headers: { 'x-api-key': key } });
    const page = (await response.json()) as HandPage;
    if (response.status !== 200) throw new Error(JSON.stringify(page));
    if (page.metadata.count !== page.transactions.length) throw new Error('count is not the number of items');
    history.push(...page.transactions);
    const last = page.transactions.at(-1);
    if (!page.metadata.hasMore || last === undefined) return history;
    cursor = `&starting_after=${last.transactionId}`;
  }
}

const unknown = 'ab'.repeat(32);

let harness: Harness;
let client: Client;
let address: string;
let stored: StoredItem[];

interface StoredItem {
  transactionId: string;
  balanceChange: string;
}

beforeAll(async () => {
  harness = await openHarness({ rounds: 300 });
  await harness.indexer.stop();
  client = createClient({ baseUrl: harness.api.url, apiKey: harness.api.key });
  ({ address, stored } = await busiestAddress());
});
afterAll(() => harness.close());

/**
 * With its history as the database has it, of which only what was accepted has one sure balance
 * change.
 */
async function busiestAddress(): Promise<{ address: string; stored: StoredItem[] }> {
  const { pool } = harness.database;
  const { rows: busiest } = await pool.query<{ id: bigint; address: string }>(`
    select s.id, s.address from address_transactions a join scripts s on s.id = a.script_id
    where s.address is not null group by s.id, s.address order by count(*) desc limit 1`);
  const [script] = busiest;
  if (script === undefined) throw new Error('no address has a history');
  const { rows } = await pool.query<StoredItem>(
    `select encode(t.transaction_id, 'hex') as "transactionId",
       (a.amount_received - a.amount_sent)::text as "balanceChange"
     from address_transactions a join transactions t on t.id = a.transaction_id
     where a.script_id = $1 and t.accepting_index is not null order by t.id desc`,
    [script.id],
  );
  return { address: script.address, stored: rows };
}

const asStored = ({ transactionId, balanceChange }: StoredItem): StoredItem => ({ transactionId, balanceChange });

describe.each([1, 7, 100])('in pages of %i', (limit) => {
  test('the generated client has the whole history', async () => {
    const history: StoredItem[] = [];
    const query = { limit, accepted_only: true };
    const items = client.paginate('/v1/addresses/{address}/transactions', { params: { path: { address }, query } });
    for await (const item of items) history.push(asStored(item));
    expect(history.length).toBeGreaterThan(100);
    expect(history).toEqual(stored);
  });

  test('the client that was written by hand has it too', async () => {
    const history = await historyByHand(harness.api.url, harness.api.key, address, limit);
    const accepted = new Set(stored.map((item) => item.transactionId));
    expect(history.filter((item) => accepted.has(item.transactionId)).map(asStored)).toEqual(stored);
  });
});

test('every listing is paged to its end', async () => {
  const lengths: Record<string, number> = {};
  const count = async (name: string, items: AsyncIterable<unknown>): Promise<void> => {
    lengths[name] = (await Array.fromAsync(items)).length;
  };
  const query = { limit: 100 };
  await count('blocks', client.paginate('/v1/blocks', { params: { query } }));
  await count('transactions', client.paginate('/v1/transactions', { params: { query } }));
  await count('addresses', client.paginate('/v1/addresses', { params: { query } }));
  await count('tags', client.paginate('/v1/tags'));
  await count('utxos', client.paginate('/v1/addresses/{address}/utxos', { params: { path: { address }, query } }));
  await count('members', client.paginate('/v1/addresses/{address}/cluster', { params: { path: { address }, query } }));
  await count('covenants', client.paginate('/v1/covenants', { params: { query: { limit: 2 } } }));
  await count('events', client.paginate('/v1/covenant-events', { params: { query: { limit: 2 } } }));
  const { rows } = await harness.database.pool.query<Record<string, bigint>>(
    `select (select count(*) from blocks) as blocks, (select count(*) from transactions) as transactions,
       (select count(*) from balances join scripts on id = script_id
         where balance > 0 and address is not null) as addresses,
       (select count(*) from tags) as tags,
       (select count(*) from utxos join scripts on id = script_id where address = $1) as utxos,
       coalesce((select size from clusters join scripts on clusters.id = cluster_of(scripts.id)
         where address = $1), 1) as members,
       (select count(*) from covenants) as covenants, (select count(*) from covenant_events) as events`,
    [address],
  );
  const wanted = Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value)]);
  expect(lengths).toEqual(Object.fromEntries(wanted));
});

test('leaving a listing early asks for no further page', async () => {
  let requests = 0;
  const counting = createClient({
    baseUrl: harness.api.url,
    apiKey: harness.api.key,
    fetch: (request) => {
      requests += 1;
      return fetch(request);
    },
  });
  for await (const block of counting.paginate('/v1/blocks', { params: { query: { limit: 2 } } })) {
    expectTypeOf(block).toEqualTypeOf<Schema<'RestBlock'>>();
    break;
  }
  expect(requests).toBe(1);
});

test('responses have their types, with parameters, with a body, and without either', async () => {
  const { network } = await client.get('/v1/rpc/getCurrentNetwork');
  expectTypeOf(network).toExtend<string>();
  expect(network).toBe('simnet');
  const { transactions } = await client.post('/v1/transactions/acceptance', { body: { transactionIds: [unknown] } });
  expectTypeOf(transactions).toEqualTypeOf<Schema<'TransactionAcceptance'>[]>();
  expect(transactions).toMatchObject([{ transactionId: unknown, isAccepted: false }]);
});

test('what the types refuse', () => {
  // @ts-expect-error no such path
  void (() => client.get('/v1/rpc/getNothing'));
  // @ts-expect-error a parameter is missing
  void (() => client.get('/v1/blocks/{hash}'));
  // @ts-expect-error not a listing
  void (() => client.paginate('/v1/status'));
  // @ts-expect-error not of this listing
  void (() => client.paginate('/v1/tags', { params: { query: { chain_only: true } } }));
});

test('an error has what the API says of it', async () => {
  const refused = client.get('/v1/blocks/{hash}', { params: { path: { hash: 'xyz' } } });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({ status: 400, details: [{ path: 'hash' }] });
  const wrongKey = createClient({ baseUrl: harness.api.url, apiKey: 'none' });
  await expect(wrongKey.get('/v1/blocks')).rejects.toMatchObject({ status: 401, message: 'Invalid API key' });
});

test('openapi-fetch itself is there for headers', async () => {
  const first = await client.http.GET('/v1/rpc/getCoinSupply');
  const etag = first.response.headers.get('etag') ?? '';
  const again = await client.http.GET('/v1/rpc/getCoinSupply', { params: { header: { 'if-none-match': etag } } });
  expect([first.response.status, again.response.status]).toEqual([200, 304]);
});
