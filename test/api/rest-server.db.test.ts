/** /rest in the forms of kaspa-rest-server, as its pages read them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, openHarness } from './harness.ts';

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
  expect(await ask('/info/price')).toMatchObject({
    status: 404,
    json: { message: expect.stringContaining('no prices') as string },
  });
});

test('a block has what pages need, also for genesis', async () => {
  const { chainBlocks } = harness.simulatedDag.node.dag;
  for (const { hash, header } of [chainBlocks[0], chainBlocks.at(-5)].filter((block) => block !== undefined)) {
    const block = (await get(`/blocks/${hash}?includeColor=true`)) as {
      header: { parents: { parentHashes: string[] }[] };
      transactions: { inputs: object[]; outputs: { amount: string; verboseData: object; scriptPublicKey: object }[] }[];
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
          amount: expect.any(String) as string,
          verboseData: expect.any(Object) as object,
        });
    }
    expect(block.extra).toHaveProperty('minerAddress');
  }
  expect((await ask(`/blocks/${'ab'.repeat(32)}`)).status).toBe(404);
});

interface RestServerTransaction {
  transaction_id: string;
  inputs: { previous_outpoint_address: string | null; previous_outpoint_amount: number | null }[] | null;
  outputs: { amount: number }[];
  is_accepted: boolean;
  accepting_block_time: number | null;
}

test('transactions have snake_case fields, and spent outputs if they are asked for', async () => {
  const { rows } = await harness.database.pool.query<{ id: string; is_coinbase: boolean }>(
    `(select encode(transaction_id, 'hex') as id, true as is_coinbase from transactions where subnetwork_id = 1 limit 1)
     union all (select encode(transaction_id, 'hex'), false from transactions where fee > 0 and accepting_index is not null limit 3)`,
  );
  const found = (
    await ask('/transactions/search?resolve_previous_outpoints=light&fields=', {
      transactionIds: rows.map(({ id }) => id),
    })
  ).json as unknown as RestServerTransaction[];
  expect(found.map(({ transaction_id: id }) => id)).toEqual(rows.map(({ id }) => id));
  for (const [place, { is_coinbase: isCoinbase }] of rows.entries()) {
    const transaction = found[place] as RestServerTransaction;
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
    const ids = (response.json as unknown as RestServerTransaction[]).map(({ transaction_id: id }) => id);
    expect(response.headers.get('x-page-count')).toBe(String(ids.length));
    return {
      ids,
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
  const [, second] = pages;
  expect((await page(`&after=${second?.after}`)).ids).toEqual(pages[0]?.ids);
  expect((await page(`&before=${Date.now() + 86_400_000_000}`)).ids).toEqual(all.slice(0, 7));
  expect((await page('&before=1636298787842')).ids).toEqual([]);
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
  expect((await ask('/transactions/count/yesterday')).status).toBe(400);
  expect((await harness.api.requestWithoutKey('/rest/info/coinsupply')).status).toBe(401);
});
