/** /rest in the forms of kaspa-rest-server, as its pages read them. */
import { createHash } from 'node:crypto';
import { classifyScript, computeMass, toHex, transactionId } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildTransaction } from '@kasgres/devnet';
import { submittedForm } from '../support/compare/expected.ts';
import { OTHER_NETWORK } from './accounts.ts';
import { type Harness, openHarness } from './harness.ts';
import { sinkOf } from './one-state.ts';

let harness: Harness;
let address: string;

beforeAll(async () => {
  harness = await openHarness({ rounds: 250, seed: 'rest server' });
  await harness.atRest();
  const { rows } = await harness.database.pool.query<{ address: string }>(
    'select address from balances join scripts on id = script_id where sending_count > 2 order by transaction_count desc limit 1',
  );
  address = rows[0]?.address as string;
});
afterAll(() => harness.close());

const ask = async (path: string, body?: object) => harness.api.request(`/rest${path}`, body && { body });
const get = async (path: string) => (await ask(path)).json;

test('the information of the network', async () => {
  const { sink } = harness.simulatedDag.node.dag;
  expect(await get('/info/virtual-chain-blue-score')).toEqual({ blueScore: Number(sink.header.blueScore) });
  expect(await get('/info/blockreward')).toEqual({ blockreward: 50 });
  expect((await ask('/info/blockreward?stringOnly=true')).text).toBe('50.00');
  expect(await get('/info/halving')).toMatchObject({
    nextHalvingAmount: 44,
    nextHalvingDate: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/) as string,
  });
  expect(await get('/info/blockdag')).toMatchObject({
    networkName: 'kaspa-simnet',
    virtualDaaScore: expect.stringMatching(/^\d+$/) as string,
  });
  expect(await get('/info/coinsupply')).toMatchObject({ maxSupply: '2900000000000000000' });
  expect(await get('/info/kaspad')).toMatchObject({ mempoolSize: expect.stringMatching(/^\d+$/) as string });
  expect(await get('/info/fee-estimate')).toHaveProperty('priorityBucket.feerate');
});

test('prices, which a chain does not have, are null in the forms of the original', async () => {
  expect(await ask('/info/price')).toMatchObject({ status: 200, json: { price: null } });
  expect(await ask('/info/marketcap')).toMatchObject({ status: 200, json: { marketcap: null } });
  expect((await ask('/info/price?stringOnly=true')).text).toBe('null');
  expect(await ask('/info/market-data')).toMatchObject({
    status: 200,
    json: { current_price: { usd: null }, market_cap: { usd: null }, price_change_percentage_24h: null },
  });
});

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
  expect((await ask('/addresses/%zz/balance')).json).toMatchObject({ statusCode: 400, detail: 'The URL is malformed' });
  expect((await ask(`/transactions/${'a'.repeat(2000)}`)).json['detail']).toBe('The URL is malformed');
  expect((await harness.api.get('/v1/blocks/x')).json).not.toHaveProperty('detail');
});

test('inputs and outputs have the fields of later transaction versions', async () => {
  const { rows } = await harness.database.pool.query<{ id: string; version: number; covenant: string | null }>(
    `select distinct on (t.version, o.covenant_id is null)
       encode(t.transaction_id, 'hex') as id, t.version, encode(o.covenant_id, 'hex') as covenant
     from transactions t join transaction_outputs o on o.transaction_id = t.id
       where t.subnetwork_id <> 1`,
  );
  expect(rows.some(({ version }) => version === 0) && rows.some(({ covenant }) => covenant !== null)).toBe(true);
  for (const { id, version, covenant } of rows) {
    const { inputs, outputs } = (await get(`/transactions/${id}`)) as unknown as Record<
      'inputs' | 'outputs',
      Record<string, unknown>[]
    >;
    for (const input of inputs) {
      expect(typeof input['sig_op_count']).toBe(version === 0 ? 'string' : 'object');
      expect(typeof input['compute_budget']).toBe(version === 0 ? 'object' : 'number');
    }
    for (const output of outputs) {
      expect(output).toHaveProperty('covenant_id');
      expect(output['covenant_authorizing_input'] === null).toBe(output['covenant_id'] === null);
    }
    if (covenant !== null) expect(outputs.map((output) => output['covenant_id'])).toContain(covenant);
  }
});

test('a block is shown with any bytes that its miner wrote into it', async () => {
  const { hash } = harness.simulatedDag.node.dag.chainBlocks.at(-20) as { hash: string };
  const shown: Record<string, string | null> = {
    '312e302f00706f6f6c': null,
    '312ffffe': null,
    eda080: null,
    f8888080: null,
    c080: null,
    '312e302fe280ae706f6f6c': null,
    '31e2808b32': null,
    '310a32': null,
    '31c28532': null,
    f3a080a1: null,
    '312e302f706fc3b66c20f09f918d': '1.0/poöl 👍',
    '': '',
  };
  for (const [extra, text] of Object.entries(shown)) {
    await harness.database.pool.query(
      `update transactions set payload = substring(payload for 19 + get_byte(payload, 18)) || decode($1, 'hex')
       where id = (select transaction_id from block_transactions
         where index = 0 and block_id = (select id from blocks where encode(hash, 'hex') = $2))`,
      [extra, hash],
    );
    expect([extra, (await harness.api.get(`/v1/blocks/${hash}`)).json]).toMatchObject([
      extra,
      { block: { miner: { extraData: extra, extraText: text } } },
    ]);
    expect([extra, await ask(`/blocks/${hash}`)]).toMatchObject([
      extra,
      { status: 200, json: { extra: { minerInfo: text } } },
    ]);
  }
});

test('a block has what pages need, also for genesis', async () => {
  const { chainBlocks } = harness.simulatedDag.node.dag;
  for (const { hash, header } of [chainBlocks[0], chainBlocks.at(-5)].filter((block) => block !== undefined)) {
    const block = (await get(`/blocks/${hash}?includeColor=true`)) as {
      header: { parents: { parentHashes: string[] }[] };
      transactions: { inputs: object[]; outputs: { amount: number; verboseData: object; scriptPublicKey: object }[] }[];
      verboseData: { childrenHashes: string[]; hash: string; blueScore: string };
      extra: { color: string; minerAddress: string | null };
    };
    expect(block.header.parents.length).toBeGreaterThan(0);
    expect(block.verboseData).toMatchObject({
      hash,
      blueScore: String(header.blueScore),
      childrenHashes: expect.any(Array) as string[],
    });
    for (const { inputs, outputs } of block.transactions) {
      expect(Array.isArray(inputs)).toBe(true);
      for (const output of outputs)
        expect(output).toMatchObject({
          amount: expect.any(Number) as number,
          verboseData: expect.any(Object) as object,
        });
    }
    expect(block.extra).toHaveProperty('minerAddress');
  }
  expect((await ask(`/blocks/${'ab'.repeat(32)}`)).status).toBe(404);
});

interface RestServerTransaction {
  transaction_id: string;
  block_time: number;
  inputs: { previous_outpoint_address: string | null; previous_outpoint_amount: number | null }[] | null;
  outputs: { amount: number }[];
  is_accepted: boolean;
  accepting_block_time: number | null;
}

test('transactions have snake_case fields, and spent outputs if they are asked for', async () => {
  const { rows } = await harness.database.pool.query<{ id: string; is_coinbase: boolean }>(
    `(select encode(transaction_id, 'hex') as id, true as is_coinbase from transactions where subnetwork_id = 1 limit 1)
     union all (select encode(transaction_id, 'hex'), false from transactions
       where fee > 0 and accepting_index is not null limit 3)`,
  );
  const found = (
    await ask('/transactions/search?resolve_previous_outpoints=light&fields=', {
      transactionIds: rows.map(({ id }) => id),
    })
  ).json as unknown as RestServerTransaction[];
  expect(found.map(({ transaction_id: id }) => id).toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
  for (const { id, is_coinbase: isCoinbase } of rows) {
    const transaction = found.find((one) => one.transaction_id === id) as RestServerTransaction;
    if (isCoinbase) expect(transaction.inputs).toBeNull();
    else {
      for (const input of transaction.inputs ?? []) expect(input.previous_outpoint_amount).toBeGreaterThan(0);
      expect(transaction.accepting_block_time).toBeGreaterThan(0);
    }
  }
  const plain = (await get(`/transactions/${rows[1]?.id}`)) as unknown as RestServerTransaction;
  expect(plain.inputs?.[0]?.previous_outpoint_amount).toBeNull();
  const acceptance = (await ask('/transactions/acceptance', { transactionIds: [rows[1]?.id, 'ab'.repeat(32)] }))
    .json as unknown as object[];
  expect(acceptance).toMatchObject([{ accepted: true }, { accepted: false, acceptingBlockHash: null }]);
});

test('the history of an address is paged in both directions, and by time', async () => {
  const { total } = (await get(`/addresses/${address}/transactions-count`)) as { total: number };
  const page = async (query: string) => {
    const response = await ask(
      `/addresses/${address}/full-transactions-page?limit=7&resolve_previous_outpoints=light${query}`,
    );
    const transactions = response.json as unknown as RestServerTransaction[];
    const ids = transactions.map(({ transaction_id: id }) => id);
    expect(response.headers.get('x-page-count')).toBe(String(ids.length));
    return {
      ids,
      times: transactions.map(({ block_time: time }) => time),
      before: response.headers.get('x-next-page-before'),
      after: response.headers.get('x-next-page-after'),
    };
  };
  const pages: Awaited<ReturnType<typeof page>>[] = [];
  for (let next: string | null = '0'; next !== null; next = pages.at(-1)?.before ?? null)
    pages.push(await page(`&before=${next}&after=0&fields=`));
  const all = pages.flatMap(({ ids }) => ids);
  expect(new Set(all).size).toBe(total);
  const last = await page('&after=1');
  expect(last.ids).toEqual(all.slice(-last.ids.length));
  expect(last.before).toBeNull();
  const { rows } = await harness.database.pool.query<{ id: string }>(
    "select encode(transaction_id, 'hex') as id from transactions where accepting_index is not null",
  );
  const known = new Set(rows.map(({ id }) => id));
  // A full page has all transactions of the `block_time` at its edge, also those above the limit.
  const accepted = await page('&acceptance=accepted');
  expect(accepted.ids.length).toBeGreaterThanOrEqual(7);
  expect(accepted.ids).toEqual(all.filter((id) => known.has(id)).slice(0, accepted.ids.length));
  expect(new Set(accepted.times.slice(6)).size).toBe(1);
  expect((await page('&acceptance=rejected')).ids).toEqual(pages[0]?.ids.filter((id) => !known.has(id)));
  expect((await ask(`/addresses/${address}/full-transactions-page?acceptance=maybe`)).status).toBe(400);
  const [, second] = pages;
  const newest = pages[0]?.ids as string[];
  expect((await page(`&after=${second?.after}`)).ids).toEqual(newest.slice(-7));
  expect((await page(`&before=${Date.now() + 86_400_000_000}`)).ids).toEqual(newest);
  for (const time of [1636298787842, 1]) expect((await page(`&before=${time}`)).ids).toEqual([]);
  expect((await page(`&after=${Date.now() + 86_400_000_000}`)).ids).toEqual([]);
  // Any time before the first transaction jumps to the end.
  for (const time of [2, 1_000_000, 1636298787842]) expect((await page(`&after=${time}`)).ids).toEqual(last.ids);
});

test('balances, UTXOs, names, the richest addresses and counts', async () => {
  const { balance } = (await get(`/addresses/${address}/balance`)) as { balance: number };
  const utxos = (await get(`/addresses/${address}/utxos`)) as unknown as { utxoEntry: { amount: string } }[];
  expect(utxos.reduce((sum, { utxoEntry }) => sum + Number(utxoEntry.amount), 0)).toBe(balance);
  expect((await get('/addresses/names')) as unknown as object[]).not.toHaveLength(0);
  const [{ ranking }] = (await get('/addresses/top')) as unknown as [{ ranking: { rank: number; amount: number }[] }];
  expect(ranking.map(({ rank }) => rank)).toEqual(ranking.map((_, i) => i));
  expect(ranking.map(({ amount }) => amount)).toEqual(
    ranking.map(({ amount }) => amount).toSorted((one, other) => other - one),
  );
  const [{ tiers }] = (await get('/addresses/distribution')) as unknown as [{ tiers: { count: number }[] }];
  expect(tiers.length).toBeGreaterThan(0);
  const counted = (await get('/transactions/count/')) as { regular: number; coinbase: number };
  const { rows } = await harness.database.pool.query<{ regular: bigint; chain: bigint }>(
    'select (select count(*) from transactions where accepting_index is not null and subnetwork_id <> 1) as regular, (select count(*) from chain_blocks) as chain',
  );
  expect(counted).toMatchObject({ regular: Number(rows[0]?.regular), coinbase: Number(rows[0]?.chain) });
  expect((await ask('/transactions/count/1999-01-01')).status).toBe(404);
  expect(await get('/transactions/count/2999-01-01')).toEqual([]);
  expect((await ask('/transactions/count/yesterday')).status).toBe(400);
  expect((await harness.api.requestWithoutKey('/rest/info/coinsupply')).status).toBe(401);
});

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

test('the network has an alias, hash rates as the difficulty gives them, and health', async () => {
  const info = await harness.node.call('getBlockDagInfo', {});
  expect(await get('/info/network')).toEqual(await get('/info/blockdag'));
  expect(await get('/info/network')).toMatchObject({ sink: info.sink, blockCount: String(info.blockCount) });
  expect(await get('/info/hashrate')).toEqual({ hashrate: (info.difficulty * 20) / 1e12 });
  const { p2pId, serverVersion, isSynced } = await harness.node.call('getInfo', {});
  const p2pIdHashed = createHash('sha256').update(p2pId).digest('hex');
  expect(await get('/info/kaspad')).toMatchObject({ p2pIdHashed });
  // The blocks of the simulation are old.
  expect(await ask('/info/health')).toMatchObject({
    status: 503,
    json: {
      kaspadServers: [{ serverVersion, p2pId: p2pIdHashed, isSynced }],
      database: {
        isSynced: false,
        blueScore: Number(harness.simulatedDag.node.dag.sink.header.blueScore),
        blueScoreDiff: 0,
      },
    },
  });
});

interface HashRate {
  daaScore: number;
  blueScore: number;
  timestamp: number;
  date_time: string;
  difficulty: number;
  hashrate_kh: number;
}

test('hash rates have a history, and a maximum', async () => {
  const rates = async (query: string) => (await get(`/info/hashrate/history${query}`)) as unknown as HashRate[];
  const { rows } = await harness.database.pool.query<{ hours: number; days: number; work: string }>(
    `select count(*) filter (where length = 'hour'
      and start > newest - 5000 * 3600000::bigint)::int as hours,
        count(*) filter (where length = 'day')::int as days,
       (max(work) filter (where length = 'hour'))::text as work
     from network_intervals cross join (select max(start) as newest from network_intervals
       where length = 'hour') latest`,
  );
  const [kept] = rows;
  const hours = await rates('');
  expect(hours).toHaveLength(kept?.hours as number);
  expect(await rates('?resolution=1d')).toHaveLength(kept?.days as number);
  expect((await rates('?resolution=7d')).length).toBeLessThan(kept?.days as number);
  const { chainBlocks, sink } = harness.simulatedDag.node.dag;
  expect(hours.map(({ daaScore }) => daaScore)).toEqual(
    hours.map(({ daaScore }) => daaScore).toSorted((one, other) => other - one),
  );
  expect(hours[0]).toMatchObject({ blueScore: Number(sink.header.blueScore), daaScore: Number(sink.header.daaScore) });
  const [, second] = hours;
  expect(chainBlocks.find(({ header }) => Number(header.blueScore) === second?.blueScore)?.header.timestamp).toBe(
    BigInt(second?.timestamp as number),
  );
  expect(second?.date_time).toBe(new Date(second?.timestamp as number).toISOString().replace('Z', '+00:00'));

  const today = day(Number(sink.header.timestamp));
  const [ofDay, quarters] = [await rates(`/${today}?resolution=1h`), await rates(`/${today}`)];
  expect(ofDay).toEqual(hours.slice(0, ofDay.length));
  expect(ofDay.length).toBeGreaterThan(0);
  expect(quarters.length).toBeGreaterThanOrEqual(ofDay.length);
  expect(await rates('/1999-01-01')).toEqual([]);
  expect((await ask('/info/hashrate/history?resolution=2h')).status).toBe(400);
  expect((await ask(`/info/hashrate/history/${today}?resolution=1d`)).status).toBe(400);

  const highest = (await get('/info/hashrate/max')) as {
    hashrate: number;
    blockheader: { hash: string; daaScore: string };
  };
  expect(highest.hashrate).toBeCloseTo(Number(kept?.work) / 3600 / 1e12, 20);
  const { hash, daaScore } = highest.blockheader;
  expect(chainBlocks.find((block) => block.hash === hash)?.header.daaScore).toBe(BigInt(daaScore));
});

interface RestServerBlock {
  header: { blueWork: string; blueScore: string };
  transactions: {
    payload: string;
    outputs: { amount: number }[];
    verboseData: { transactionId: string; blockTime: number };
  }[];
  verboseData: { hash: string; transactionIds: string[] };
  extra: { color: string | null; minerAddress: string | null } | null;
}

test('blocks follow a low hash, as the node lists them', async () => {
  const lowHash = harness.simulatedDag.node.dag.chainBlocks.at(-30)?.hash as string;
  const page = async (query: string) =>
    (await get(`/blocks?lowHash=${lowHash}${query}`)) as unknown as {
      blockHashes: string[];
      blocks: RestServerBlock[];
    };
  const expected = await harness.node.call('getBlocks', { lowHash, includeBlocks: true, includeTransactions: true });
  const hashes = await page('');
  expect(hashes.blocks).toEqual([]);
  expect(hashes.blockHashes[0]).toBe(lowHash);
  expect(hashes.blockHashes.toSorted()).toEqual(expected.blockHashes.toSorted());
  const bare = await page('&includeBlocks=true');
  expect(bare.blocks.map(({ transactions }) => transactions)).toEqual(bare.blocks.map(() => []));
  const { blocks } = await page('&includeBlocks=true&includeTransactions=true');
  expect(blocks.map(({ verboseData }) => verboseData.hash)).toEqual(hashes.blockHashes);
  for (const { header, transactions, verboseData } of blocks) {
    const block = harness.simulatedDag.node.dag.get(verboseData.hash);
    expect(BigInt(`0x${header.blueWork}`)).toBe(BigInt(block.header.blueWork));
    expect(transactions.map((transaction) => transaction.verboseData.transactionId)).toEqual(
      verboseData.transactionIds,
    );
    for (const { payload, outputs, verboseData: data } of transactions) {
      expect(payload).toMatch(/^(?:[0-9a-f]{2})*$/);
      expect(data.blockTime).toBe(Number(block.header.timestamp));
      for (const { amount } of outputs) expect(amount).toBeTypeOf('number');
    }
  }
  expect((await ask('/blocks')).status).toBe(400);
  expect((await ask(`/blocks?lowHash=${'ab'.repeat(32)}`)).status).toBe(404);
});

test('blocks are found by blue score, also by the next one above or below', async () => {
  const { chainBlocks, sink } = harness.simulatedDag.node.dag;
  const { hash, header } = chainBlocks.at(-40) as (typeof chainBlocks)[number];
  const at = async (query: string) => (await get(`/blocks-from-bluescore?${query}`)) as unknown as RestServerBlock[];
  const found = await at(`blueScore=${header.blueScore}`);
  expect(found[0]?.verboseData.hash).toBe(hash);
  for (const block of found) expect(block.header.blueScore).toBe(String(header.blueScore));
  expect(found[0]?.transactions).toEqual([]);
  expect((await at(`blueScore=${header.blueScore}&includeTransactions=true`))[0]?.transactions.length).toBeGreaterThan(
    0,
  );
  expect(await at(`blueScoreGte=${header.blueScore}`)).toEqual(found);
  expect(Number((await at(`blueScoreLt=${header.blueScore}`))[0]?.header.blueScore)).toBeLessThan(
    Number(header.blueScore),
  );
  expect(await at(`blueScoreGte=${Number(sink.header.blueScore) + 1000}`)).toEqual([]);
  for (const query of ['', '?blueScore=1&blueScoreLt=2', '?blueScore=x'])
    expect((await ask(`/blocks-from-bluescore${query}`)).status).toBe(400);
  expect(await get(`/blocks/${hash}?includeColor=true&includeTransactions=false`)).toMatchObject({
    transactions: null,
    extra: { color: 'blue' },
  });
  expect(await get(`/blocks/${hash}`)).toMatchObject({
    extra: { color: null, minerAddress: found[0]?.extra?.minerAddress },
  });
});

interface ChainBlock {
  hash: string;
  blue_score: number;
  transactions: { transaction_id: string; inputs?: object[]; outputs: { amount: number }[] }[];
}

test('the virtual chain has the transactions that the node says are accepted', async () => {
  const { chainBlocks } = harness.simulatedDag.node.dag;
  const startHash = chainBlocks[0]?.hash as string;
  const chain = await harness.node.call('getVirtualChainFromBlock', { startHash, includeAcceptedTransactionIds: true });
  const read = async (query: string) => (await get(`/virtual-chain?${query}`)) as unknown as ChainBlock[];
  const acceptedBy = new Map(
    chain.acceptedTransactionIds.map(({ acceptingBlockHash, acceptedTransactionIds }) => [
      acceptingBlockHash,
      acceptedTransactionIds,
    ]),
  );
  const pages = [await read('blueScoreGte=100&limit=100'), await read('blueScoreGte=200&limit=100')];
  const expected = chainBlocks.filter(({ header }) => header.blueScore >= 100n && header.blueScore < 300n);
  expect(pages.flat().map(({ hash, transactions }) => [hash, transactions.map((one) => one.transaction_id)])).toEqual(
    expected.map(({ hash }) => [hash, acceptedBy.get(hash)]),
  );
  const without = (await read('blueScoreGte=200&limit=100&includeCoinbase=false&resolveInputs=true')).flatMap(
    ({ transactions }) => transactions,
  );
  expect(without.length).toBeGreaterThan(0);
  for (const { inputs } of without)
    for (const input of inputs ?? [])
      expect(input).toMatchObject({
        previous_outpoint_amount: expect.any(Number) as number,
        previous_outpoint_index: expect.any(Number) as number,
      });
  for (const query of ['', 'blueScoreGte=5', 'blueScoreGte=0&limit=20'])
    expect((await ask(`/virtual-chain?${query}`)).status).toBe(400);

  expect(await get(`/info/get-vscp-from-block?startHash=${startHash}`)).toEqual({
    removedChainBlockHashes: [],
    addedChainBlockHashes: chain.addedChainBlockHashes,
    acceptedTransactionIds: chain.acceptedTransactionIds.map(({ acceptingBlockHash, acceptedTransactionIds }) => ({
      acceptingBlockHash,
      acceptedTransactionIds,
    })),
  });
  expect(
    await get(`/info/get-vscp-from-block?startHash=${startHash}&includeAcceptedTransactionIds=false`),
  ).toMatchObject({ acceptedTransactionIds: [] });

  const acceptingBlueScores = { gte: 200, lt: 300 };
  const found = (await ask('/transactions/search', { acceptingBlueScores })).json as unknown as RestServerTransaction[];
  expect(found.map((one) => one.transaction_id).toSorted()).toEqual(
    pages[1]?.flatMap(({ transactions }) => transactions.map((one) => one.transaction_id)).toSorted(),
  );
  expect((await ask('/transactions/search', { acceptingBlueScores: { gte: 0, lt: 101 } })).status).toBe(400);
  const [one, other] = found.filter(
    (transaction, n) => n === 0 || transaction.block_time < Number(found[0]?.block_time),
  );
  // As the original: newest first, and each once however often it is asked for.
  const repeated = [other, one, other, one].map((transaction) => transaction?.transaction_id);
  expect((await ask('/transactions/search', { transactionIds: repeated })).json).toEqual([one, other]);
  const transactionIds = [one?.transaction_id];
  expect((await ask('/transactions/search?acceptance=accepted', { transactionIds })).json).toHaveLength(1);
  expect((await ask('/transactions/search?acceptance=rejected', { transactionIds })).json).toHaveLength(0);
  expect((await ask('/transactions/search', {})).json).toEqual([]);
});

test('an address has balances by the hour, a number of UTXOs, and activity', async () => {
  const { rows } = await harness.database.pool.query<{
    balance: string;
    utxos: number;
    last_seen: string;
    scripts: number;
  }>(
    `select balance::text, utxo_count as utxos, last_seen::text,
       (select count(*)::int from balances where first_seen is not null) as scripts
     from balances join scripts on id = script_id where address = $1`,
    [address],
  );
  const [expected] = rows;
  expect(await get(`/addresses/${address}/utxos/count`)).toEqual({ count: expected?.utxos });
  const { sink } = harness.simulatedDag.node.dag;
  const today = day(Number(sink.header.timestamp));
  const balances = (await get(`/addresses/${address}/balance/${today.slice(0, 7)}`)) as unknown as {
    timestamp: number;
    amount: number;
  }[];
  expect(balances[0]?.amount).toBe(Math.floor(Number(expected?.balance) / 1e8));
  const times = balances.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted((one, other) => other - one));
  expect(await get(`/addresses/${address}/balance/1999-01`)).toEqual([]);

  expect((await ask('/addresses/active', { addresses: [address] })).json).toEqual([
    { address, active: true, lastTxBlockTime: Number(expected?.last_seen) },
  ]);
  expect((await ask('/addresses/active', { addresses: ['kaspa:qqqq'] })).status).toBe(400);
  const hours = (await get(`/addresses/active/count/${today}`)) as unknown as { timestamp: number; count: number }[];
  expect(hours.length).toBeGreaterThan(0);
  for (const { timestamp, count } of hours) {
    expect(day(timestamp)).toBe(today);
    expect(count).toBeGreaterThan(0);
  }
  expect(await get('/addresses/active/count/')).toMatchObject({ count: expected?.scripts });
});

/** The form of kaspa-rest-server, with an output for the whole of a mature UTXO less a fee. */
function payment() {
  const { consensus } = harness.simulatedDag.node;
  for (const entry of consensus.utxos.values()) {
    const isMature = !entry.isCoinbase || entry.blockDaaScore + 20n < BigInt(consensus.virtual.daaScore);
    if (!isMature || classifyScript(entry.scriptPublicKey) !== 'pubkey' || entry.amount < 500_000_000n) continue;
    const { scriptPublicKey } = entry;
    const transaction = buildTransaction({
      version: 0,
      utxos: [{ entry, redeemScript: undefined }],
      outputs: [{ amount: Number(entry.amount) - 5_000_000, scriptPublicKey }],
      payload: new Uint8Array(0),
      sequence: 2n ** 64n - 1n,
    });
    const { inputs, outputs, ...form } = submittedForm(transaction);
    return {
      transaction,
      form: {
        version: form.version,
        inputs,
        outputs: outputs.map(({ value, scriptPublicKey: script }) => ({
          amount: Number(value),
          scriptPublicKey: { version: Number.parseInt(script.slice(0, 4), 16), scriptPublicKey: script.slice(4) },
        })),
        lockTime: 0,
        subnetworkId: form.subnetworkId,
      },
    };
  }
  throw new Error('there is no UTXO left');
}

test('a payment is weighed and submitted', async () => {
  const { transaction, form } = payment();
  const [storage, compute] = [Number(transaction.storageMass), Number(computeMass(transaction))];
  expect(await ask('/transactions/mass', form)).toMatchObject({
    status: 200,
    json: { mass: Math.max(storage, compute), storage_mass: storage, compute_mass: compute },
  });
  const { lockTime: _lockTime, subnetworkId: _subnetworkId, ...bare } = form;
  for (const same of [
    bare,
    { ...form, lockTime: null, gas: null, payload: null },
    { ...form, id: 'ab', mass: 12, verboseData: {}, inputs: form.inputs.map((one) => ({ ...one, utxo: {} })) },
  ])
    expect(await ask('/transactions/mass', same)).toMatchObject({ status: 200, json: { compute_mass: compute } });
  const heavier = async (change: object) =>
    (await ask('/transactions/mass', { ...form, ...change })).json['compute_mass'] as number;
  expect(await heavier({ payload: 'ab'.repeat(1000) })).toBe(
    Number(computeMass({ ...transaction, payload: Buffer.alloc(1000) })),
  );
  expect(
    await heavier({ version: 1, inputs: form.inputs.map((input) => ({ ...input, computeBudget: 50 })) }),
  ).toBeGreaterThan(await heavier({ version: 1 }));
  const [output, ...others] = form.outputs;
  const covenant = { authorizingInput: 0, covenantId: 'cd'.repeat(32) };
  expect(await heavier({ version: 1, outputs: [{ ...output, covenant }, ...others] })).toBeGreaterThan(
    await heavier({ version: 1 }),
  );
  for (const [change, path] of [
    [{ version: 'x' }, 'version'],
    [{ lockTime: -1 }, 'lockTime'],
    [{ lock_time: 5 }, 'lock_time'],
    [{ Payload: 'ab' }, 'Payload'],
    [{ outputs: [{ ...output, covenantId: 'cd'.repeat(32) }] }, 'outputs.0.covenantId'],
    [{ outputs: [{ ...output, amount: 'x' }] }, 'outputs.0.amount'],
    [{ inputs: form.inputs.map((input) => ({ ...input, compute_budget: 5 })) }, 'inputs.0.compute_budget'],
  ] as const)
    expect((await ask('/transactions/mass', { ...form, ...change })).json).toMatchObject({
      statusCode: 400,
      details: expect.arrayContaining([{ path, message: expect.any(String) as string }]) as object[],
    });
  expect((await ask('/transactions', { transaction: { ...form, lockTime: 'x' } })).json).toMatchObject({
    details: [{ path: 'transaction.lockTime' }],
  });
  expect((await ask('/transactions?replaceByFee=true', { transaction: form })).status).toBe(400);
  const submitted = await ask('/transactions', { transaction: form, allowOrphan: false });
  expect(submitted).toMatchObject({ status: 200, json: { transactionId: toHex(transactionId(transaction)) } });
  const again = await ask('/transactions', {
    transaction: { ...form, inputs: form.inputs.map((input) => ({ ...input, signatureScript: '00' })) },
  });
  const error = expect.stringMatching(/^Rejected transaction/) as string;
  expect(again).toMatchObject({ status: 400, json: { statusCode: 400, message: error, detail: error, error } });
  const unknown = {
    ...form,
    inputs: [{ ...form.inputs[0], previousOutpoint: { transactionId: 'ab'.repeat(32), index: 0 } }],
  };
  const message = 'Previous outpoint(s) not found in database.';
  expect(await ask('/transactions/mass', unknown)).toMatchObject({ status: 404, json: { message, detail: message } });
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
    expect((await ask(`/transactions?replaceByFee=${yes}`, { transaction: payment().form })).json).toMatchObject({
      details: [{ path: 'replaceByFee' }],
    });
  }
  for (const word of ['maybe', '2', 'constructor'])
    expect(await ask(`/blocks/${hash}?includeColor=${word}`)).toMatchObject({
      status: 400,
      json: { details: [{ path: 'includeColor', message: 'must be true or false' }] },
    });
});

test('it refuses fields that a halving does not have', async () => {
  expect((await ask('/info/halving?field=nextHalvingAmount')).text).toBe('44');
  for (const field of ['constructor', 'toString', '__proto__', 'price'])
    expect(await ask(`/info/halving?field=${field}`)).toMatchObject({
      status: 400,
      json: { details: [{ path: 'field' }] },
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

test('the richest addresses and the time of the sink come from one state while the chain grows', async () => {
  const sinks = new Set<string | null>();
  while (sinks.size < 5) {
    harness.simulatedDag.mine(2);
    for (const path of ['/addresses/top', '/addresses/distribution']) {
      const response = await ask(path);
      const sink = sinkOf(response);
      const [{ timestamp }] = response.json as unknown as [{ timestamp: number }];
      expect(timestamp).toBe(Number(harness.simulatedDag.node.dag.get(sink ?? '').header.timestamp));
      sinks.add(sink);
    }
  }
  await harness.atRest();
});

test('transactions of a range of the chain are refused if they are too large together', async () => {
  const range = { acceptingBlueScores: { gte: 100, lt: 200 } };
  const chain = '/virtual-chain?blueScoreGte=100&limit=100';
  const found = (await ask('/transactions/search', range)).json as unknown as object[];
  expect((await ask(chain)).status).toBe(200);
  expect(found.length).toBeGreaterThan(150);
  // Each portion that is read at once would be within the bound.
  await harness.database.pool.query('update transactions set json_bytes = 500000 where accepting_index is not null');
  expect((await ask('/transactions/search', range)).json).toMatchObject({
    statusCode: 400,
    details: [{ path: 'acceptingBlueScores' }],
  });
  expect((await ask(chain)).json).toMatchObject({ statusCode: 400, details: [{ path: 'limit' }] });
});
