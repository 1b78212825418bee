/**
 * Invariant 12: clusters follow from the chain alone. After any reorgs, failures and steps, they
 * are those of a fresh index and of the oracle.
 */
import { approveCluster, listClustersAtLimit, rejectHeldMerges, upsertTags } from '@kasgres/database';
import type { TestDatabase } from '@kasgres/database/testing';
import { fromHex } from '@kasgres/kaspa';
import { sleep } from '@kasgres/runtime';
import { checkInvariant12, checkInvariant4 } from '@kasgres/verification';
import { expect, test, vi } from 'vitest';
import {
  acceptedSpending,
  cluster,
  clusterSnapshot,
  expectedChangeLinks,
  expectedClusters,
  expectSameClusters,
  figuresOf,
  type Options,
  startClustering,
  storedChangeLinks,
  storedClusters,
  united,
} from './clusters-harness.ts';
import { atRest, freshDatabase, indexFromScratch, createHarness, type Harness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

/** With many reorgs, as deep as the clustering. */
const PEOPLE = { reorgRate: 0.06, collaborativeRate: 0.05, anyoneCanPayRate: 0.05 };

async function expectRight(harness: Harness, options: Options, isTagged = false): Promise<void> {
  const { simulatedDag, database } = harness;
  const fresh = await indexFromScratch(harness);
  if (isTagged) await tagSome(fresh);
  await cluster(fresh, options);
  await expectSameClusters(database, fresh);
  expect(await storedClusters(database)).toEqual(expectedClusters(simulatedDag, options.depth));
  expect(await checkInvariant4(database.pool)).toEqual([]);
}

test.each([0n, 3n, 20n])('clusters stay right through reorgs across a depth of %i', async (depth) => {
  const harness = await createHarness(`clusters ${depth}`, undefined, undefined, PEOPLE);
  const { simulatedDag, database, node } = harness;
  const options = { depth, change: true };
  const indexer = startIndexing(simulatedDag, database.url);
  for (let step = 0; step < 18; step += 1) {
    simulatedDag.mine(12);
    await atRest(database, node, indexer);
    await cluster(database, options, 1 + step);
  }
  await indexer.stop();
  await expectRight(harness, options);
  expect(await storedChangeLinks(database)).toEqual(expectedChangeLinks(simulatedDag, depth));
  const snapshot = await clusterSnapshot(database.pool);
  expect(snapshot.get('merges')?.length).toBeGreaterThan(20);
});

test('the clustering follower survives connections that are cut at any moment', async () => {
  const harness = await createHarness('clusters cut', undefined, undefined, PEOPLE);
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  const clustering = startClustering(database, { CLUSTER_DEPTH: '2' });
  for (let step = 0; step < 15; step += 1) {
    simulatedDag.mine(12);
    await sleep(60);
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'kasgres clustering'`,
    );
  }
  await atRest(database, node, indexer);
  await indexer.stop();
  expect((await clustering.metrics.failures.get()).values[0]?.value).toBeGreaterThan(0);
  await clustering.stop();
  await cluster(database, { depth: 2n });
  await expectRight(harness, { depth: 2n });
});

test('clusters are the same after reverting all and clustering the chain again', async () => {
  const harness = await createHarness('clusters undone', undefined, undefined, PEOPLE);
  const { simulatedDag, database } = harness;
  simulatedDag.mine(150);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, harness.node, indexer);
  await indexer.stop();
  await tagSome(database);
  const states = [await clusterSnapshot(database.pool)];
  // The sink rises step by step on one chain, so that each step can be reverted.
  for (const depth of [150n, 100n, 50n, 0n]) {
    await cluster(database, { depth });
    states.push(await clusterSnapshot(database.pool));
  }
  expect(states.at(-1)?.get('clusters')?.length).toBeGreaterThan(3);
  expect(await checkInvariant4(database.pool)).toEqual([]);
  for (const depth of [50n, 100n, 150n]) {
    states.pop();
    await undoTo(database, depth);
    const again = await clusterSnapshot(database.pool);
    expect([...again].filter(([section]) => section !== 'position')).toEqual(
      [...(states.at(-1) ?? [])].filter(([section]) => section !== 'position'),
    );
    expect(await checkInvariant4(database.pool)).toEqual([]);
  }
  await cluster(database, { depth: 0n });
  await expectRight(harness, { depth: 0n }, true);
});

async function letAllThrough(database: TestDatabase, options: { depth: bigint; sizeLimit: bigint }): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    const clusters = await listClustersAtLimit(database.kysely);
    if (clusters.length === 0) break;
    for (const { address = '' } of clusters) {
      await approveCluster(database.kysely, address, 1_000n);
    }
    await cluster(database, options);
    expect(await checkInvariant12(database.pool)).toEqual([]);
  }
}

/** Returns the size limits that an operator set, by the address of the root. */
async function sizeLimitsOf({ pool }: TestDatabase): Promise<Map<string, bigint>> {
  const { rows } = await pool.query<{ address: string; size_limit: bigint }>(
    'select s.address, c.size_limit from clusters c join scripts s on s.id = c.id where c.size_limit is not null',
  );
  return new Map(rows.map(({ address, size_limit: limit }) => [address, limit]));
}

/** Removes the chain down to a depth, clusters, and restores the chain. */
async function undoTo(database: TestDatabase, depth: bigint, sizeLimit = 1_000_000n): Promise<void> {
  const { pool } = database;
  await pool.query(
    `create table kept_blocks as select * from chain_blocks
      where blue_score > (select max(blue_score) from chain_blocks) - $1`,
    [depth],
  );
  await pool.query('delete from chain_blocks where index in (select index from kept_blocks)');
  await cluster(database, { depth: 1_000_000n, sizeLimit });
  await pool.query('insert into chain_blocks select * from kept_blocks');
  await pool.query('drop table kept_blocks');
}

async function tagSome({ pool }: TestDatabase): Promise<void> {
  const { rows } = await pool.query<{ address: string; name: string }>(
    `select address, 'owner ' || hashtext(address) % 2 as name from scripts
      where address is not null and hashtext(address) % 9 = 0`,
  );
  await upsertTags(
    pool,
    rows.map((tag) => ({ ...tag, link: '', labels: [] })),
  );
}

test('merges beyond the size limit are held in order until an operator releases them', async () => {
  const harness = await createHarness('clusters limited', undefined, undefined, PEOPLE);
  const { simulatedDag, database, node } = harness;
  const options = { depth: 3n, sizeLimit: 4n };
  const indexer = startIndexing(simulatedDag, database.url);
  for (let step = 0; step < 10; step += 1) {
    simulatedDag.mine(20);
    await atRest(database, node, indexer);
    await cluster(database, options, 30);
  }
  await indexer.stop();
  const fresh = await indexFromScratch(harness);
  await cluster(fresh, options);
  await expectSameClusters(database, fresh);

  const sizesOf = async (): Promise<number[]> => (await storedClusters(database)).map(({ length }) => length);
  expect(Math.max(...(await sizesOf()))).toBe(4);
  const [first, ...others] = await listClustersAtLimit(database.kysely);
  expect(first?.heldMerges).toBeGreaterThan(0n);
  expect(others.length).toBeGreaterThan(0);
  expect(first?.transactionId).toMatch(/^[0-9a-f]{64}$/);
  // RETENTION removes old transactions, of held merges, too.
  await database.pool.query('update held_merges set transaction_id = -transaction_id');
  expect((await listClustersAtLimit(database.kysely))[0]).toEqual({ ...first, transactionId: undefined });
  await database.pool.query('update held_merges set transaction_id = -transaction_id');
  const undone = await clusterSnapshot(database.pool);
  await letAllThrough(database, options);
  expect(await storedClusters(database)).toEqual(expectedClusters(simulatedDag, options.depth));

  // A release survives a reorg below it, unless the whole cluster is undone.
  const limits = await sizeLimitsOf(database);
  await undoTo(database, 100n, options.sizeLimit);
  expect(await checkInvariant12(database.pool)).toEqual([]);
  const kept = await sizeLimitsOf(database);
  expect(kept.size).toBeGreaterThan(0);
  for (const [root, limit] of kept) expect(limit).toBe(limits.get(root) ?? limit);
  await cluster(database, options);
  for (const { address = '' } of await listClustersAtLimit(database.kysely)) expect(kept.get(address)).toBeUndefined();
  await letAllThrough(database, options);
  expect(await storedClusters(database)).toEqual(expectedClusters(simulatedDag, options.depth));
  expect(undone.get('held merges')?.length).toBeGreaterThan(3);
});

test('a merge that an operator rejects is never applied, also when its clusters grow', async () => {
  const harness = await createHarness('clusters limited');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(150);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  const options = { depth: 0n, sizeLimit: 4n };
  await cluster(database, options);
  const before = await storedClusters(database);
  const clusters = await listClustersAtLimit(database.kysely);
  expect(clusters.length).toBeGreaterThan(1);
  for (let [first] = clusters; first !== undefined; [first] = await listClustersAtLimit(database.kysely)) {
    expect(await rejectHeldMerges(database.kysely, fromHex(first.transactionId ?? ''))).toBeGreaterThan(0);
  }
  for (const { address = '' } of clusters) {
    expect(await approveCluster(database.kysely, address, 1_000n)).toMatchObject({
      approved: 0,
    });
  }
  await cluster(database, options);
  expect(await storedClusters(database)).toEqual(before);
});

test('clusters have the owners that common inputs reveal, with full precision and sensitivity', async () => {
  const harness = await createHarness('clusters of owners', undefined, undefined, {
    collaborativeRate: 0.05,
    anyoneCanPayRate: 0.05,
    covenantRate: 0.05,
    // Programs have no owner.
    applicationRate: 0,
  });
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(400, 8);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  await cluster(database, { depth: 0n }, 500);
  const ownerOf = (script: string): unknown => simulatedDag.ownerOf({ version: 0, script: fromHex(script) });
  const spending = acceptedSpending(simulatedDag, 0n);
  // UTXOs with covenants, and scripts of several keys, reveal no owner.
  const figures = figuresOf(
    await storedClusters(database),
    ownerOf,
    spending.filter(({ hasCovenant }) => !hasCovenant).map(({ keyScripts }) => keyScripts),
  );
  const inclusive = figuresOf(
    await storedClusters(database),
    ownerOf,
    spending.map(({ inputScripts }) => inputScripts),
  );
  console.log(
    `precision ${figures.precision.toFixed(4)}, sensitivity ${figures.sensitivity.toFixed(4)} of ${figures.knowable} pairs ` +
      `(${inclusive.sensitivity.toFixed(4)} of ${inclusive.knowable} with covenants and script hashes)`,
  );
  expect(figures.knowable).toBeGreaterThan(500);
  expect(figures.precision).toBeGreaterThanOrEqual(0.99);
  expect(figures.sensitivity).toBeGreaterThanOrEqual(0.95);
  // Without the guards against CoinJoins, everybody would be in one cluster.
  const unguarded = united(spending.map(({ keyScripts }) => keyScripts));
  expect(figuresOf(unguarded, ownerOf, []).precision).toBeLessThan(0.9);
});

test('the clustering follower waits for an index, and for an unavailable database', async () => {
  const database = await freshDatabase();
  const clustering = startClustering(database);
  await sleep(100);
  const { metrics } = clustering;
  await database.drop();
  await vi.waitUntil(async () => ((await metrics.failures.get()).values[0]?.value ?? 0) > 1, { timeout: 20_000 });
  await clustering.stop();
});
