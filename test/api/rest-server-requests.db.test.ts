/** Paths, parameters, errors, costs and states, which all routes of /rest share. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OTHER_NETWORK } from './accounts.ts';
import type { Harness } from './harness.ts';
import { sinkOf } from './one-state.ts';
import { day, openRestServer, payment, requestsOf, type RestServerBlock } from './rest-server.ts';

let harness: Harness;
let address: string;

beforeAll(async () => {
  ({ harness, address } = await openRestServer());
});
afterAll(() => harness.close());

const { ask, get } = requestsOf(() => harness);

test('paths may end with a slash, or not', async () => {
  for (const path of [
    '/info/blockreward',
    '/transactions/count',
    '/addresses/active/count',
    `/addresses/${address}/balance`,
    `/addresses/${address}/full-transactions-page`,
  ]) {
    const response = await ask(`${path}/?limit=1`);
    expect([path, response.status, response.text]).toEqual([path, 200, (await ask(`${path}?limit=1`)).text]);
  }
  expect((await ask('/addresses/balances/', { addresses: [address] })).status).toBe(200);
});

test('errors have the detail that clients of the original show', async () => {
  expect((await ask(`/transactions/${'ab'.repeat(32)}`)).json).toEqual({
    statusCode: 404,
    message: 'Transaction not found',
    detail: 'Transaction not found',
  });
  expect((await ask('/info/blockreward/nothing')).json).toMatchObject({ detail: expect.any(String) as string });
  expect((await ask('/transactions/count/yesterday')).json['detail']).toBe('date: must be YYYY, YYYY-MM or YYYY-MM-DD');
  expect((await ask(`/addresses/${OTHER_NETWORK}/balance`)).json['detail']).toBe(
    'address: is not an address of simnet',
  );
  const { json } = await harness.api.requestWithoutKey('/rest/info/coinsupply');
  expect(json['detail']).toBe(json['message']);
  for (const path of ['/addresses/%zz/balance', `/addresses/${'a'.repeat(2000)}/balance`])
    expect((await ask(path)).json).toMatchObject({ statusCode: 400, detail: /^address: / });
  expect((await harness.api.get('/v1/blocks/x')).json).not.toHaveProperty('detail');
});

test('it takes the last value of a repeated parameter', async () => {
  const hash = harness.simulatedDag.node.dag.chainBlocks.at(-5)?.hash as string;
  const colorOf = async (query: string) =>
    ((await get(`/blocks/${hash}?${query}`)) as unknown as RestServerBlock).extra;
  expect(await colorOf('includeColor=false&includeColor=true')).toMatchObject({ color: 'blue' });
  expect(await colorOf('includeColor=true&includeColor=false')).toMatchObject({ color: null });
  const supply = '/info/coinsupply/circulating?in_billion=';
  expect((await ask(`${supply}1&in_billion=true`)).text).toBe((await ask(`${supply}true`)).text);
  expect((await ask('/info/blockreward?stringOnly=a&stringOnly=true')).text).toBe('50.00');
  const chain = await ask(
    '/virtual-chain?blueScoreGte=10&blueScoreGte=20&limit=10&includeCoinbase=false&includeCoinbase=true',
  );
  expect(chain).toMatchObject({ status: 200, text: (await ask('/virtual-chain?blueScoreGte=20&limit=10')).text });
  const page = `/blocks?lowHash=${hash}&includeBlocks=true`;
  expect((await ask(`${page}&includeBlocks=false`)).json).toMatchObject({ blocks: [] });
  expect((await ask('/transactions?replaceByFee=false&replaceByFee=true', { transaction: {} })).json).toMatchObject({
    details: [{ path: 'replaceByFee' }],
  });
});

test('an empty parameter is an absent one', async () => {
  for (const path of ['/blocks-from-bluescore?blueScore=', '/virtual-chain?blueScoreGte=', '/blocks?lowHash='])
    expect([path, (await ask(path)).status]).toEqual([path, 400]);
  const found = await ask('/blocks-from-bluescore?blueScore=&blueScoreGte=100&includeTransactions=');
  expect(found).toMatchObject({ status: 200, text: (await ask('/blocks-from-bluescore?blueScoreGte=100')).text });
  const page = `/addresses/${address}/full-transactions-page`;
  const empty = await ask(`${page}?limit=&before=&after=&fields=&resolve_previous_outpoints=&acceptance=`);
  expect(empty).toMatchObject({ status: 200, text: (await ask(page)).text });
  expect((await ask(`${page}?befor=`)).status).toBe(400);
});

test('it reads flags as FastAPI does, and refuses other words', async () => {
  const { hash } = harness.simulatedDag.node.dag.chainBlocks.at(-5) as { hash: string };
  const { rows } = await harness.database.pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions where subnetwork_id <> 1 limit 1`,
  );
  const transaction = `/transactions/${rows[0]?.id}`;
  for (const no of ['false', 'False', '0', 'off', 'NO', 'n', 'f']) {
    expect([no, await get(`${transaction}?inputs=${no}&outputs=${no}`)]).toMatchObject([
      no,
      { inputs: null, outputs: null },
    ]);
    expect([no, await get(`/blocks/${hash}?includeTransactions=${no}`)]).toMatchObject([no, { transactions: null }]);
  }
  for (const yes of ['true', 'True', '1', 'on', 'YES', 'y', 't']) {
    expect([yes, await get(`${transaction}?inputs=${yes}`)]).toMatchObject([
      yes,
      { inputs: expect.any(Array) as unknown },
    ]);
    expect([yes, await get(`/blocks/${hash}?includeColor=${yes}`)]).toMatchObject([yes, { extra: { color: 'blue' } }]);
    expect((await ask(`/info/blockreward?stringOnly=${yes}`)).text).toBe('50.00');
    // Otherwise the transaction would be submitted, and replace none.
    expect((await ask(`/transactions?replaceByFee=${yes}`, { transaction: payment(harness).form })).json).toMatchObject(
      {
        details: [{ path: 'replaceByFee' }],
      },
    );
  }
  for (const word of ['maybe', '2', 'constructor'])
    expect(await ask(`/blocks/${hash}?includeColor=${word}`)).toMatchObject({
      status: 400,
      json: { details: [{ path: 'includeColor', message: 'must be true or false' }] },
    });
});

async function costOf(path: string, body: object): Promise<number> {
  const { status, headers } = await ask(path, body);
  expect(status).toBe(200);
  return Number(headers.get('x-request-cost-ru'));
}

test.each([
  ['/transactions/acceptance', 'transactionIds'],
  ['/transactions/search', 'transactionIds'],
  ['/addresses/balances', 'addresses'],
  ['/addresses/active', 'addresses'],
  ['/addresses/utxos', 'addresses'],
])('it charges %s by the number of %s', async (path, name) => {
  const item = name === 'addresses' ? address : 'ab'.repeat(32);
  expect(await costOf(path, { [name]: Array(20).fill(item) })).toBe(0.1);
  expect(await costOf(path, { [name]: Array(41).fill(item) })).toBe(0.3);
});

test('it charges a search of a hundred blue scores as a page', async () => {
  expect(await costOf('/transactions/search', { acceptingBlueScores: { gte: 0, lt: 100 } })).toBe(0.5);
  expect(await costOf('/transactions/search', {})).toBe(0.1);
});

test('every response from the index names its sink, and is a 304 until the sink changes', async () => {
  const { sink, chainBlocks } = harness.simulatedDag.node.dag;
  const { hash, header } = chainBlocks.at(-20) as (typeof chainBlocks)[number];
  const { rows } = await harness.database.pool.query<{ id: string }>(
    "select encode(transaction_id, 'hex') as id from transactions limit 1",
  );
  const id = rows[0]?.id;
  const today = day(Number(sink.header.timestamp));
  const requests: [path: string, body?: object][] = [
    ['/info/coinsupply'],
    ['/info/coinsupply/circulating'],
    ['/info/coinsupply/total'],
    ['/info/coinsupply/max'],
    ['/info/blockreward'],
    ['/info/halving'],
    ['/info/halving?field=nextHalvingDate'],
    ['/info/hashrate/max'],
    ['/info/hashrate/history'],
    [`/info/hashrate/history/${today}`],
    ['/info/virtual-chain-blue-score'],
    [`/info/get-vscp-from-block?startHash=${hash}`],
    [`/blocks?lowHash=${hash}`],
    [`/blocks/${hash}`],
    [`/blocks-from-bluescore?blueScore=${header.blueScore}`],
    ['/virtual-chain?blueScoreGte=100&limit=100'],
    [`/transactions/${id}`],
    ['/transactions/search', { transactionIds: [id] }],
    ['/transactions/search', { acceptingBlueScores: { gte: 100, lt: 120 } }],
    ['/transactions/acceptance', { transactionIds: [id] }],
    ['/transactions/count/'],
    [`/transactions/count/${today}`],
    ['/addresses/names'],
    ['/addresses/top'],
    ['/addresses/distribution'],
    [`/addresses/${address}/balance`],
    [`/addresses/${address}/balance/${today}`],
    [`/addresses/${address}/utxos`],
    [`/addresses/${address}/utxos/count`],
    [`/addresses/${address}/transactions-count`],
    [`/addresses/${address}/full-transactions`],
    [`/addresses/${address}/full-transactions-page`],
    ['/addresses/active/count/'],
    [`/addresses/active/count/${today}`],
    ['/addresses/active', { addresses: [address] }],
    ['/addresses/balances', { addresses: [address] }],
    ['/addresses/utxos', { addresses: [address] }],
  ];
  for (const [path, body] of requests) {
    const response = await ask(path, body);
    expect({ path, status: response.status, sink: sinkOf(response) }).toEqual({ path, status: 200, sink: sink.hash });
    const headers = { 'if-none-match': response.headers.get('etag') ?? '' };
    const again = await harness.api.request(`/rest${path}`, { headers, ...(body && { body }) });
    expect({ path, status: again.status, sink: sinkOf(again) }).toEqual({ path, status: 304, sink: sink.hash });
  }
  const unknown = await ask(`/transactions/${'ab'.repeat(32)}`);
  expect([unknown.status, sinkOf(unknown), unknown.headers.get('etag')]).toEqual([404, sink.hash, null]);
});

test('it refuses limits, dates and bodies that kaspa-rest-server refuses', async () => {
  for (const path of [
    `/addresses/${address}/full-transactions-page?limit=0`,
    `/addresses/${address}/full-transactions?limit=0`,
    `/addresses/${address}/full-transactions-page?limit=501`,
    '/transactions/count/2026-02-31',
    '/transactions/count/2026-13',
    '/addresses/active/count/2025-02-29',
  ])
    expect([path, (await ask(path)).status]).toEqual([path, 400]);
  expect((await ask('/transactions/count/2999-02-28')).status).toBe(200);
  for (const path of ['/transactions/search', '/transactions/acceptance', '/addresses/balances'])
    for (const body of ['"abc"', 'null', '[]', '7'])
      expect([path, body, (await harness.api.request(`/rest${path}`, { body })).status]).toEqual([path, body, 400]);
  const both = { transactionIds: ['ab'.repeat(32)], acceptingBlueScores: { gte: 0, lt: 1 } };
  expect((await ask('/transactions/search', both)).json).toMatchObject({ details: [{ path: 'transactionIds' }] });
});

test('it refuses unknown parameters of the routes where kaspa-rest-server does, and ignores them elsewhere', async () => {
  const transactionIds = { transactionIds: [] };
  for (const [path, body] of [
    [`/addresses/${address}/full-transactions-page?befor=1`],
    [`/addresses/${address}/full-transactions?befor=1`],
    [`/addresses/${address}/utxos/?befor=1`],
    [`/addresses/${address}/balance/2026-01?befor=1`],
    ['/addresses/top?before=3600000&limit=1&befor=1'],
    ['/virtual-chain?blueScoreGte=0&befor=1'],
    ['/transactions/acceptance?befor=1', transactionIds],
  ] as const)
    expect([path, (await ask(path, body)).json]).toMatchObject([
      path,
      { statusCode: 400, details: [{ path: 'befor', message: 'is not a known field' }] },
    ]);
  for (const [path, body] of [
    ['/info/coinsupply?befor=1'],
    ['/addresses/top?before=3600000&limit=1'],
    ['/addresses/distribution?before=3600000&limit=24'],
    [`/addresses/${address}/balance?befor=1`],
    ['/transactions/search?befor=1', transactionIds],
    ['/transactions/search?inputs=maybe', transactionIds],
  ] as const)
    expect([path, (await ask(path, body)).status]).toEqual([path, 200]);
});

test('it says which parameter is required', async () => {
  for (const [path, name] of [
    ['/blocks', 'lowHash'],
    ['/info/get-vscp-from-block', 'startHash'],
    ['/virtual-chain', 'blueScoreGte'],
  ] as const)
    expect((await ask(path)).json).toMatchObject({ details: [{ path: name, message: 'is required' }] });
});
