/**
 * Clusters and flags across gaps (invariant 12). Transactions accepted before a gap stay clustered,
 * or are clustered after it; merges of removed chain blocks are undone; and clustering continues
 * above the new bootstrap block with the existing merges, names and limits.
 */
import { approveCluster, listClustersAtLimit, upsertTags } from '@kasgres/database';
import type { TestDatabase } from '@kasgres/database/testing';
import { addressToScript, getNetwork, scriptToAddress } from '@kasgres/kaspa';
import { expect, test, vi } from 'vitest';
import { payment, scriptOf } from '@kasgres/devnet/testing';
import { checkInvariant12, checkInvariant4 } from '@kasgres/verification';
import { differencesOf } from '../invariants/snapshot.ts';
import { cluster, clusterSnapshot, expectedClustersOfIndex, type Options, storedClusters } from './clusters-harness.ts';
import { freshDatabase } from '../support/harness.ts';
import {
  followToTheTip,
  gapsOf,
  forkBelowFinality,
  type Pruning,
  pruneAbove,
  createPruningHarness,
  withLowFinality,
} from './bootstraps-harness.ts';
import { PARAMS } from '../support/simulated-dag.ts';

const RECORD = { ON_GAP: 'record' };
/** With CoinJoins and many reorgs. */
const PEOPLE = { reorgRate: 0.04, collaborativeRate: 0.05, anyoneCanPayRate: 0.05 };
vi.setConfig({ testTimeout: 300_000 });

/** Gives every index the same names, some of which disagree within a cluster. */
async function tagSome({ pool }: TestDatabase): Promise<void> {
  const { rows } = await pool.query<{ address: string; name: string }>(
    `select address, 'owner ' || hashtext(address) % 2 as name from scripts
      where address is not null and hashtext(address) % 7 = 0`,
  );
  await upsertTags(
    pool,
    rows.map((tag) => ({ ...tag, link: '', labels: [] })),
  );
}

async function expectRight({ pool }: TestDatabase): Promise<void> {
  expect(await checkInvariant12(pool)).toEqual([]);
  expect(await checkInvariant4(pool)).toEqual([]);
}

/**
 * Compares two indexes with the same bootstrap blocks and gaps, of which one clustered only at the
 * end.
 */
async function expectSame(one: TestDatabase, late: TestDatabase): Promise<void> {
  expect(differencesOf(await clusterSnapshot(late.pool), await clusterSnapshot(one.pool))).toEqual([]);
}

test.each([0n, 3n, 40n])('clusters stay right over two gaps at a depth of %i', async (depth) => {
  const harness = await createPruningHarness(`clusters, gaps ${depth}`, {}, PEOPLE);
  const { simulatedDag, database } = harness;
  const options = { depth, change: true };
  const continueOnBoth = async (): Promise<void> => {
    pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
    await followToTheTip(harness, RECORD);
    for (let step = 0; step < 4; step += 1) {
      await cluster(database, options, 1 + 10 * step);
      await expectRight(database);
      if (step === 2) simulatedDag.reorganise();
      else simulatedDag.mine(15);
      await followToTheTip(harness, RECORD);
    }
    await cluster(database, options);
    await expectRight(database);
    expect(await storedClusters(database)).toEqual(await expectedClustersOfIndex(database, [simulatedDag], options));
  };
  simulatedDag.mine(80);
  const late = { ...harness, database: await freshDatabase() };
  for (const each of [harness, late]) {
    await followToTheTip(each);
    await tagSome(each.database);
  }
  await cluster(database, options);
  expect((await storedClusters(database)).length).toBeGreaterThan(3);
  await continueOnBoth();
  await followToTheTip(late, RECORD);
  expect(await gapsOf(late.database.pool)).toEqual(await gapsOf(database.pool));
  await cluster(late.database, options);
  await expectRight(late.database);
  await expectSame(database, late.database);

  // UTXOs of the previous bootstrap block alone are unknown later, so this clusters up to the tip.
  await cluster(database, { ...options, depth: 0n });
  await continueOnBoth();
  expect(await gapsOf(database.pool)).toHaveLength(2);
  const named = await database.pool.query('select from clusters where name is not null');
  expect(named.rowCount).toBeGreaterThan(0);
});

test.each([
  ['in time', false],
  ['late: of UTXOs that only the first start had, nothing is known by then', true],
])('clusters stay right over a gap of a bootstrapped index, clustered %s', async (name, isLate) => {
  const harness = await createPruningHarness(`clusters, start ${name}`, {}, PEOPLE);
  const { simulatedDag, database } = harness;
  const options = { depth: 0n };
  pruneAbove(simulatedDag, 60);
  simulatedDag.mine(60);
  await followToTheTip(harness);
  await tagSome(database);
  if (!isLate) await cluster(database, options);
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  await followToTheTip(harness, RECORD);
  await cluster(database, options);
  await expectRight(database);
  const all = await expectedClustersOfIndex(database, [simulatedDag], options);
  const known = await expectedClustersOfIndex(database, [simulatedDag], { ...options, forgets: true });
  expect(known).not.toEqual(all);
  expect(await storedClusters(database)).toEqual(isLate ? known : all);
});

test('merges that were held or released before a gap stay so', async () => {
  const harness = await createPruningHarness('clusters, held', {}, PEOPLE);
  const { simulatedDag, database } = harness;
  const options: Options = { depth: 2n, sizeLimit: 4n };
  const approveAll = async (): Promise<void> => {
    for (const { address = '' } of await listClustersAtLimit(database.kysely)) {
      await approveCluster(database.kysely, address, 1_000n);
    }
  };
  simulatedDag.mine(100);
  await followToTheTip(harness);
  await cluster(database, options);
  expect((await listClustersAtLimit(database.kysely)).length).toBeGreaterThan(0);
  await approveAll();
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  await followToTheTip(harness, RECORD);
  for (let round = 0; round < 20; round += 1) {
    await cluster(database, options);
    await expectRight(database);
    if ((await listClustersAtLimit(database.kysely)).length === 0) break;
    await approveAll();
  }
  expect(await storedClusters(database)).toEqual(await expectedClustersOfIndex(database, [simulatedDag], options));
});

const WAYS: Pruning[] = ['at the fork', 'on its branch'];

test.each(WAYS)(
  'a reorg below finality, to a node that prunes %s, reverts the merges above the fork',
  async (prunes) => {
    const harness = await createPruningHarness(`clusters, below finality ${prunes}`);
    const { simulatedDag, database } = harness;
    const options = { depth: 0n, change: true };
    simulatedDag.mine(80);
    const late = { ...harness, database: await freshDatabase() };
    const peer = await forkBelowFinality(harness, prunes, async () => {
      for (const each of [harness, late]) {
        await followToTheTip(each);
        await tagSome(each.database);
      }
      await cluster(database, options);
      await expectRight(database);
    });
    const before = await clusterSnapshot(database.pool);
    await withLowFinality(async () => {
      for (const each of [harness, late]) await followToTheTip({ ...peer, database: each.database }, RECORD);
    });
    // Flags and balances are right before the merges are undone.
    await expectRight(database);
    await cluster(database, options, 10);
    await cluster(late.database, options);
    await expectRight(database);
    await expectRight(late.database);
    await expectSame(database, late.database);
    const kept = new Set((await clusterSnapshot(database.pool)).get('merges'));
    expect(before.get('merges')?.every((merge) => kept.has(merge))).toBe(false);
    expect(await storedClusters(database)).toEqual(
      await expectedClustersOfIndex(database, [simulatedDag, peer.simulatedDag], options),
    );
  },
);

test('scripts known only from a bootstrap block keep their flags when they are paid again after a gap', async () => {
  const harness = await createPruningHarness('gap, tags');
  const { simulatedDag, database } = harness;
  const { pool } = database;
  pruneAbove(simulatedDag, 60);
  await followToTheTip(harness);
  const { rows } = await pool.query<{ address: string; accepted_count: bigint }>(
    `select address, accepted_count::bigint from scripts s join balances b on b.script_id = s.id where type = 'pubkey'`,
  );
  const payee = scriptToAddress(scriptOf(7), getNetwork('simnet').addressPrefix) ?? '';
  expect(rows.map(({ address }) => address)).not.toContain(payee);
  await upsertTags(
    pool,
    [payee, ...rows.map(({ address }) => address)].map((address) => ({
      address,
      name: 'somebody',
      link: '',
      labels: [],
    })),
  );
  const known = rows.filter(({ accepted_count: count }) => count === 0n).map(({ address }) => addressToScript(address));
  const { utxos: utxoSet } = simulatedDag.node.consensus;
  for (const script of known)
    for (const utxo of utxoSet.utxosOf(script)) simulatedDag.submit(payment(utxo, scriptOf(7)));
  simulatedDag.mine(40);
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  await followToTheTip(harness, RECORD);
  const { rows: lost } = await pool.query<{ address: string }>(
    `select address from balances b join scripts s on s.id = b.script_id
      where accepted_count = 0 and utxo_count = 0 and is_tagged`,
  );
  expect(lost).not.toEqual([]);
  const brought = await pool.query(
    `select from balances b join scripts s on s.id = b.script_id
      where address = $1 and accepted_count = 0 and utxo_count > 0 and is_tagged`,
    [payee],
  );
  expect(brought.rowCount).toBe(1);
  expect(await checkInvariant4(pool)).toEqual([]);
  const utxos = [...utxoSet.values()].filter(({ isCoinbase, blockDaaScore }) => {
    return (
      isCoinbase && Number(blockDaaScore) + PARAMS.coinbaseMaturity <= simulatedDag.node.consensus.virtual.daaScore
    );
  });
  // A payment is lost if another of the same UTXO is accepted instead, so those without one are
  // paid again.
  for (let unpaid = lost; unpaid.length > 0; ) {
    for (const { address } of unpaid) {
      while (!simulatedDag.submit(payment(utxos.pop(), addressToScript(address)))) continue;
    }
    simulatedDag.mine(10);
    await followToTheTip(harness, RECORD);
    ({ rows: unpaid } = await pool.query<{ address: string }>(
      'select address from balances b join scripts s on s.id = b.script_id where address = any($1) and accepted_count = 0',
      [lost.map(({ address }) => address)],
    ));
  }
  const { rowCount } = await pool.query(
    `select from balances b join scripts s on s.id = b.script_id
      where address = any($1) and accepted_count > 0 and is_tagged`,
    [lost.map(({ address }) => address)],
  );
  expect(rowCount).toBe(lost.length);
  expect(await checkInvariant4(pool)).toEqual([]);
});
