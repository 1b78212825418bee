/**
 * Times of DAA scores before the first indexed block: the indexer asks its node for about a
 * thousand of them in each run, and the API interpolates between these and what it knows of the
 * network.
 */
import { createKey } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { FaultPlan } from '@kasgres/devnet';
import { estimateTimestamp, getNetwork, spreadDaaScores } from '@kasgres/kaspa';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { pruneAbove } from '../simulation/bootstraps-harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { atRest, createHarness } from '../support/harness.ts';
import { startApi } from '../support/programs.ts';
import { ApiClient } from '../support/api-client.ts';

vi.setConfig({ testTimeout: 240_000 });

const ESTIMATE = 'getDaaScoreTimestampEstimate';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

interface Point {
  daa_score: bigint;
  timestamp: bigint;
}

async function readPreBootstrapTimes({ pool }: Pick<TestDatabase, 'pool'>): Promise<Point[]> {
  return (await pool.query<Point>('select daa_score, timestamp from pre_bootstrap_times order by daa_score')).rows;
}

async function ask(api: ApiClient, daaScores: readonly bigint[]): Promise<bigint[]> {
  const body = { daaScores: daaScores.map(String) };
  const { status, json, text } = await api.request(`/v1/rpc/${ESTIMATE}`, { body });
  expect(status, text).toBe(200);
  return (json['timestamps'] as string[]).map(BigInt);
}

const ascending = (times: readonly bigint[]): bigint[] => times.toSorted((a, b) => Number(a - b));

test('it stores what the node estimates, although the node fails at first, and estimates from that', async () => {
  let failures = 2;
  const plan: FaultPlan = (op) =>
    op === ESTIMATE && failures-- > 0 ? { kind: 'error', message: 'not now' } : undefined;
  const harness = await createHarness('pre-bootstrap times', plan, { commitsToUtxos: true });
  const { simulatedDag, database, node } = harness;
  pruneAbove(simulatedDag, 80);
  const indexer = startIndexing(simulatedDag, database.url);
  cleanUp.push(() => indexer.stop());
  await atRest(database, node, indexer);
  await vi.waitFor(async () => expect(await readPreBootstrapTimes(database)).not.toEqual([]), 60_000);
  expect(failures).toBeLessThan(0);

  const stored = await readPreBootstrapTimes(database);
  const { timestamps } = await node.call(ESTIMATE, { daaScores: stored.map(({ daa_score: score }) => score) });
  expect(stored.map(({ timestamp }) => timestamp)).toEqual(timestamps);

  const { key } = await createKey(database.kysely, { name: 'test' });
  const { program, url } = await startApi({ nodeUrl: simulatedDag.server.url, databaseUrl: database.url });
  cleanUp.push(() => program.stop());
  const api = new ApiClient(url, key);
  const first = (stored.at(-1) as Point).daa_score;
  const scores = Array.from({ length: Number(first) }, (_, score) => BigInt(score)).slice(0, 1_000);
  const times = await ask(api, scores);
  expect(times).toEqual(ascending(times));
  expect(
    await ask(
      api,
      stored.slice(0, 1_000).map(({ daa_score: score }) => score),
    ),
  ).toEqual(timestamps.slice(0, 1_000));
});

describe('an index of mainnet that begins in July 2026', () => {
  const mainnet = getNetwork('mainnet');
  const first = { daaScore: 475_000_000n, timestamp: BigInt(Date.UTC(2026, 6, 1)) };
  const ORACLES = [
    [50_000_000n, '2023-06-01', '2023-07-01'],
    [87_768_050n, '2024-08-19', '2024-08-20'],
    [110_165_000n, '2025-05-05', '2025-05-06'],
  ] as const;
  let database: TestDatabase;
  let api: ApiClient;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    database = await createTestDatabase();
    for (const statement of [
      `insert into meta (network) values ('mainnet')`,
      `insert into blocks (id, hash, version, parents_by_level, hash_merkle_root,
         accepted_id_merkle_root, utxo_commitment, timestamp, bits, nonce, daa_score, blue_work,
         blue_score, pruning_point, merge_set_blues, merge_set_reds, is_chain_block,
         transaction_count)
       values (1, sha256('first'), 2, '', sha256(''), sha256(''), sha256(''), ${first.timestamp}, 0,
         0, ${first.daaScore}, 1, 1, sha256(''),
         '{}', '{}', true, 0)`,
      `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
        chain_time, highest_transaction, lowest_transaction, hash, blue_score)
       values (0, 1, ${first.daaScore}, ${first.timestamp}, '{}', ${first.timestamp}, 0, 0,
         sha256('first'), 1)`,
      `insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi) values (0, 1, 0, 0)`,
      `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id,
         next_script_id, next_subnetwork_id, circulating_sompi, virtual_merge_set, first_catch_up,
         target_blue_score, updated_at)
       values (1, 0, 2, 1, 1, 2, 0, '{}', false, 1, now())`,
    ]) {
      await database.pool.query(statement);
    }
    const { key } = await createKey(database.kysely, { name: 'test' });
    const { program, url } = await startApi({ nodeUrl: 'grpc://127.0.0.1:9', databaseUrl: database.url });
    api = new ApiClient(url, key);
    stop = () => program.stop();
  });
  afterAll(async () => {
    await stop?.();
    await database?.drop();
  });

  /** Scores of the whole past, at random distances from what is stored. */
  const past = spreadDaaScores(0n, first.daaScore, 777, mainnet);

  test.each(ORACLES)(
    'it estimates DAA score %i between %s and %s, also before a node was asked',
    async (score, from, to) => {
      // A day or two more: nothing is known between genesis and the first block but the rate of
      // blocks.
      const DAY_MS = 86_400_000;
      const [time] = await ask(api, [score]);
      expect(Number(time)).toBeGreaterThan(Date.parse(from) - 2 * DAY_MS);
      expect(Number(time)).toBeLessThan(Date.parse(to) + 2 * DAY_MS);
      const times = await ask(api, past);
      expect(times).toEqual(ascending(times));
    },
  );

  test('it is accurate to the day with the times of the node, and times ascend', async () => {
    // As if the network had stood still for a month in 2022, and made up for it by 2023: blocks
    // alone do not tell.
    const known = [
      [20_000_000n, Date.UTC(2022, 7, 1)],
      [50_000_000n, Date.UTC(2023, 5, 12)],
      [87_768_050n, Date.UTC(2024, 7, 19, 12)],
      [110_165_000n, Date.UTC(2025, 4, 5, 15)],
    ] as const;
    for (const [score, time] of known)
      await database.pool.query('insert into pre_bootstrap_times values ($1, $2)', [score, time]);
    const asked = known.map(([score]) => score);
    expect(await ask(api, asked)).toEqual(known.map(([, time]) => BigInt(time)));
    const [between] = await ask(api, [35_000_000n]);
    expect(Number(between)).toBe((Date.UTC(2022, 7, 1) + Date.UTC(2023, 5, 12)) / 2);
    const times = await ask(api, past);
    expect(times).toEqual(ascending(times));
    expect(await ask(api, [first.daaScore])).toEqual([first.timestamp]);
    const points = [
      ...mainnet.daaTimestamps,
      ...known.map(([daaScore, timestamp]) => ({ daaScore, timestamp: BigInt(timestamp) })),
      first,
    ];
    const scores = [...past, first.daaScore + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n];
    expect(await ask(api, scores)).toEqual(scores.map((score) => estimateTimestamp(score, points, mainnet)));
  });
});
