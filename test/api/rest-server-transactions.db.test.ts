/** Transactions and addresses under /rest, and submission. */
import { computeMass, toHex, transactionId } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { sinkOf } from './one-state.ts';
import { day, openRestServer, payment, requestsOf, type RestServerTransaction } from './rest-server.ts';

let harness: Harness;
let address: string;

beforeAll(async () => {
  ({ harness, address } = await openRestServer());
});
afterAll(() => harness.close());

const { ask, get } = requestsOf(() => harness);

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

test('inputs name the covenant of the UTXO that they spend', async () => {
  const { rows } = await harness.database.pool.query<{ id: string; covenants: (string | null)[] }>(
    `select transaction_id as id, array_agg(covenant_id order by index) as covenants
     from kaspa.inputs where is_accepted group by transaction_id having count(covenant_id) > 0 limit 5`,
  );
  expect(rows).toHaveLength(5);
  for (const { id, covenants } of rows)
    for (const resolve of ['no', 'light', 'full']) {
      const { inputs } = (await get(`/transactions/${id}?resolve_previous_outpoints=${resolve}`)) as unknown as {
        inputs: { covenant_id: string | null }[];
      };
      expect(inputs.map((input) => input.covenant_id)).toEqual(covenants);
    }
});

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

test('a payment is weighed and submitted', async () => {
  const { transaction, form } = payment(harness);
  const [storage, compute] = [Number(transaction.storageMass), Number(computeMass(transaction))];
  expect(await ask('/transactions/mass', form)).toMatchObject({
    status: 200,
    json: { mass: Math.max(storage, compute), storage_mass: storage, compute_mass: compute },
  });
  const { lockTime: _lockTime, subnetworkId: _subnetworkId, ...bare } = form;
  for (const same of [
    bare,
    { ...form, lockTime: null, gas: null, payload: null },
    {
      ...form,
      version: '0',
      inputs: form.inputs.map(({ previousOutpoint, ...input }) => ({
        ...input,
        sigOpCount: String(input.sigOpCount),
        previousOutpoint: { ...previousOutpoint, index: String(previousOutpoint.index) },
      })),
    },
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
    [{ version: '65536' }, 'version'],
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
