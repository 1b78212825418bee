/**
 * Invariant 13: after retention removed the oldest part of the chain, facts, UTXOs, balances and supply equal those of an index that was
 * bootstrapped at the new first block; totals, rollups and clusters equal those of an index that keeps everything.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atRest, createHarness, expectInvariants, freshDatabase, type Harness, SEED } from '../support/harness.ts';
import { Random } from '../../packages/devnet/src/economy/random.ts';
import { type RunningIndexer, startIndexing } from '../support/simulated-dag.ts';
import { cluster } from './clusters-harness.ts';
import { expectBootstrappedAtFirst, firstIndex } from './retention-oracle.ts';

const TIMEOUT_MS = 300_000;
/** No reorg of the simulation is deeper, and without late red blocks no merge either. */
const VARIABLES = { FINALITY_DEPTH: '60', PRUNING_DEPTH: '70', RETENTION: '100' };
const CLUSTER_DEPTH = 10n;
type Db = Harness['database'];

/** Mines until the chain has been cut this often more. */
async function mineUntilCut(harness: Harness, indexer: RunningIndexer, cuts: number): Promise<void> {
  for (let first = await firstIndex(harness.database); cuts > 0; ) {
    harness.simulatedDag.mine(4);
    await atRest(harness.database, harness.node, indexer);
    await cluster(harness.database, { depth: CLUSTER_DEPTH });
    const now = await firstIndex(harness.database);
    if (now > first) cuts -= 1;
    first = now;
  }
}

async function expectCut({ simulatedDag, node, database }: Harness): Promise<void> {
  await expectInvariants(database.pool, node);
  const whole = await freshDatabase();
  const indexer = startIndexing(simulatedDag, whole.url);
  await atRest(whole, node, indexer);
  await indexer.stop();
  await expectBootstrappedAtFirst(database, whole);
}

async function partitionsOf({ pool }: Db): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '_[0-9]+$' order by 1`,
  );
  return rows.map(({ name }) => name);
}

test('an index with retention equals one that was bootstrapped at its first block', {
  timeout: TIMEOUT_MS,
}, async () => {
  const harness = await createHarness('retention', undefined, { commitsToUtxos: true }, { redRate: 0 });
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(60);
  const indexer = startIndexing(simulatedDag, database.url, VARIABLES);
  await atRest(database, node, indexer);
  for (const cuts of [1, 1, 3]) {
    await mineUntilCut(harness, indexer, cuts);
    await expectCut(harness);
  }
  await indexer.stop();
  const names = await partitionsOf(database);
  // Few chain blocks make uneven generations.
  expect(names.filter((name) => /^blocks_\d+$/.test(name)).length).toBeLessThanOrEqual(16);
  expect(names.filter((name) => /^blocks_kept_\d+$/.test(name))).toHaveLength(1);
});

/** Ends the connections of the indexer in the middle of its work, as a kill of the process would. */
async function cutConnections({ pool }: Db): Promise<void> {
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'kasgres indexer' and datname = current_database()`,
  );
}

test('a cut that is interrupted at any moment happens completely or not at all', { timeout: TIMEOUT_MS }, async () => {
  const harness = await createHarness('interrupted cuts', undefined, { commitsToUtxos: true }, { redRate: 0 });
  const { simulatedDag, database, node } = harness;
  const random = new Random(`${SEED} interrupted cuts`);
  simulatedDag.mine(60);
  let indexer = startIndexing(simulatedDag, database.url, VARIABLES);
  await atRest(database, node, indexer);
  for (let round = 0; round < 40; round += 1) {
    simulatedDag.mine(2);
    await cluster(database, { depth: CLUSTER_DEPTH });
    await sleep(random.between(0, 40));
    if (random.chance(0.5)) {
      await cutConnections(database);
    } else {
      await indexer.stop();
      indexer = startIndexing(simulatedDag, database.url, VARIABLES);
    }
    await atRest(database, node, indexer);
    // The first step of removal begins with a batch or a second later.
    if (round % 4 === 0) await mineUntilCut(harness, indexer, 1);
  }
  await expectCut(harness);
  await indexer.stop();
  const names = await partitionsOf(database);
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relispartition order by 1`,
  );
  expect(names).toEqual(rows.map(({ name }) => name));
});
