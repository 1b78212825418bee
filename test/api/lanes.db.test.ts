/** Lanes over the API, as the chain of the simulated node has them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mineRewards, namespaceOf, payInLane } from '../support/lane-payments.ts';
import { openHarness, type Harness } from './harness.ts';

const PAYMENTS = 7;
const [TWICE, ONCE] = [namespaceOf(1), namespaceOf(2)];

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 10 });
  mineRewards(harness.simulatedDag, PAYMENTS);
  for (const lane of [1, 0, 1, 2, 0, 0, 0]) payInLane(harness.simulatedDag, lane);
  harness.simulatedDag.mine(1);
  await harness.atRest();
  await harness.indexer.stop();
});
afterAll(() => harness.close());

const get = (template: string, values: Record<string, string> = {}, query: Record<string, string> = {}) =>
  harness.api.getChecked(template, values, query);

const listNamespaces = async (query: Record<string, string> = {}) =>
  ((await get('/v1/lanes', {}, query)).json['lanes'] as { namespace: string }[]).map(({ namespace }) => namespace);

describe('GET /v1/lanes/{namespace}', () => {
  test('returns the sums of its accepted transactions', async () => {
    const { rows } = await harness.database.pool.query<{ fees: string; first: string; last: string }>(
      `select sum(t.fee)::text as fees, min(c.chain_time)::text as first, max(c.chain_time)::text as last
       from transactions t join chain_blocks c on c.index = t.accepting_index
       join subnetworks s on s.id = t.subnetwork_id where encode(s.subnetwork_id, 'hex') = $1`,
      [TWICE.padEnd(40, '0')],
    );
    const [sums] = rows;
    const lane = {
      namespace: TWICE,
      transactionCount: 2,
      gas: '2002',
      fees: sums?.fees,
      firstSeen: Number(sums?.first),
      lastSeen: Number(sums?.last),
    };
    expect((await get('/v1/lanes/{namespace}', { namespace: TWICE })).json).toEqual({ lane });
    expect((await get('/v1/lanes/{namespace}', { namespace: `0x${TWICE.toUpperCase()}` })).json).toEqual({ lane });
  });

  test.each(['00000000', '01000000', 'fedcba98'])('%s, in which nothing is, is unknown', async (namespace) => {
    expect((await get('/v1/lanes/{namespace}', { namespace })).status).toBe(404);
    expect((await get('/v1/lanes/{namespace}/transactions', { namespace })).status).toBe(404);
  });

  test.each(['0000010', '000001010', 'xyzxyzxy', '0x1234567', '01'.repeat(20)])(
    '%s is malformed',
    async (namespace) => {
      expect((await get('/v1/lanes/{namespace}', { namespace })).status).toBe(400);
      expect((await get('/v1/lanes/{namespace}/transactions', { namespace })).status).toBe(400);
    },
  );
});

test('GET /v1/lanes lists the last used first, and a namespace is a cursor, too', async () => {
  expect(await listNamespaces()).toEqual([namespaceOf(0), ONCE, TWICE]);
  expect((await get('/v1/lanes', {}, { starting_after: ONCE })).json).toMatchObject({ lanes: [{ namespace: TWICE }] });
  expect((await get('/v1/lanes', {}, { ending_before: ONCE })).json).toMatchObject({
    lanes: [{ namespace: namespaceOf(0) }],
  });
  // A lane that was used again since keeps the position that the listing showed.
  expect((await get('/v1/lanes', {}, { starting_after: `0:${ONCE}` })).json['lanes']).toEqual([]);
});

test('GET /v1/lanes/{namespace}/transactions has the form of other listings', async () => {
  const { json } = await get('/v1/lanes/{namespace}/transactions', { namespace: ONCE }, { include_payload: 'true' });
  const [transaction] = json['transactions'] as { transactionId: string; subnetworkId: string }[];
  expect(json['metadata']).toEqual({ hasMore: false, count: 1 });
  expect(transaction?.subnetworkId).toBe(ONCE.padEnd(40, '0'));
  const same = await get(
    '/v1/transactions/{transactionId}',
    { transactionId: transaction?.transactionId ?? '' },
    {
      include_payload: 'true',
    },
  );
  expect(same.json).toEqual({ transaction });
});

test('GET /v1/lanes lists lanes of one time by their namespaces', async () => {
  await harness.database.pool.query('update lanes set last_seen = 1');
  const expected = [ONCE, TWICE, namespaceOf(0)];
  for (const [place, namespace] of expected.entries()) {
    expect(await listNamespaces({ limit: '1', starting_after: `1:${namespace}` })).toEqual(
      expected.slice(place + 1, place + 2),
    );
    expect(await listNamespaces({ ending_before: `1:${namespace}` })).toEqual(expected.slice(0, place));
  }
});
