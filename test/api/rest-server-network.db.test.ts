/** The network, its blocks and its virtual chain under /rest. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { day, openRestServer, requestsOf, type RestServerBlock, type RestServerTransaction } from './rest-server.ts';

let harness: Harness;

beforeAll(async () => {
  ({ harness } = await openRestServer());
});
afterAll(() => harness.close());

const { ask, get } = requestsOf(() => harness);

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

test('it refuses fields that a halving does not have', async () => {
  expect((await ask('/info/halving?field=nextHalvingAmount')).text).toBe('44');
  for (const field of ['constructor', 'toString', '__proto__', 'price'])
    expect(await ask(`/info/halving?field=${field}`)).toMatchObject({
      status: 400,
      json: { details: [{ path: 'field' }] },
    });
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

test('transactions of a block have the fields of later versions, as the node has them', async () => {
  const { rows } = await harness.database.pool.query<{ hash: string }>(
    `select encode(b.hash, 'hex') as hash from transaction_outputs o
       join block_transactions c on c.transaction_id = o.transaction_id
       join blocks b on b.id = c.block_id
     where o.covenant_id is not null limit 1`,
  );
  const [{ hash }] = rows as [{ hash: string }];
  const { block } = await harness.node.call('getBlock', { hash, includeTransactions: true });
  const { transactions } = (await get(`/blocks/${hash}`)) as unknown as {
    transactions: {
      version: number;
      inputs: { computeBudget: number | null }[];
      outputs: { covenant: object | null }[];
    }[];
  };
  const covenants = transactions.map(({ outputs }) => outputs.map(({ covenant }) => covenant));
  expect(block?.transactions.map(({ outputs }) => outputs.map(({ covenant }) => covenant ?? null))).toMatchObject(
    covenants,
  );
  expect(covenants.flat()).toContain(null);
  for (const { version, inputs } of transactions)
    for (const { computeBudget } of inputs) expect(computeBudget === null).toBe(version === 0);
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
  const digits = { acceptingBlueScores: { gte: '200', lt: '300' } };
  expect((await ask('/transactions/search', digits)).json).toEqual(found);
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
