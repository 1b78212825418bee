/**
 * A simulated DAG, a node client and a database for one test, and the comparison of an index with a
 * fresh one of the same node.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isDatabaseUnavailable } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { FaultPlan, SimulatedNodeOptions, SimulationOptions } from '@kasgres/devnet';
import { NodeClient, NodeUnavailableError } from '@kasgres/node';
import { checkGhostdag, checkInvariant4, checkInvariant7, checkInvariant8 } from '@kasgres/verification';
import { expect, onTestFinished } from 'vitest';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { differencesOf, findOpenVariants, type Snapshot, takeSnapshot } from '../invariants/snapshot.ts';
import { applicationDifferences } from './applications.ts';
import { startIndexer } from './programs.ts';
import { APPLICATION_RATE, type RunningIndexer, SimulatedDag, startIndexing } from './simulated-dag.ts';
import { untilAtRest } from './until-at-rest.ts';

const { SEED: wanted = '1', HOSTILE_RATE = '0.1' } = process.env;
/**
 * In every seed: the share of rounds in which a hostile miner adds blocks, and transactions of
 * applications.
 */
const EVERY_SEED = { hostileRate: Number(HOSTILE_RATE), applicationRate: APPLICATION_RATE };
/**
 * Every run has the same seed, so that a new failure is due to the code. `SEED=random` tries other
 * simulated DAGs.
 */
export const SEED = wanted === 'random' ? String(randomInt(2 ** 32)) : wanted;

/**
 * Runs the step after the test, the latest first. Test files share this module, so that hooks that
 * it registers would run in one of them only.
 */
export function onTestEnd(step: () => unknown): void {
  onTestFinished(async () => void (await step()));
}

export interface Harness {
  simulatedDag: SimulatedDag;
  node: NodeClient;
  database: TestDatabase;
}

export { untilAtRest };

type Database = Pick<Connection, 'pool'>;

/** @param name is part of the seed */
export async function createHarness(
  name: string,
  faults?: FaultPlan,
  nodeOptions?: Partial<SimulatedNodeOptions>,
  simulation?: Partial<SimulationOptions>,
): Promise<Harness> {
  console.log(`SEED=${SEED} (${name})`);
  const options = { ...EVERY_SEED, ...simulation };
  const simulatedDag = await SimulatedDag.start(`${SEED} ${name}`, faults, nodeOptions, options);
  onTestEnd(async () => simulatedDag.stop());
  const node = new NodeClient({ url: simulatedDag.server.url });
  onTestEnd(() => node.close());
  return { simulatedDag, node, database: await freshDatabase() };
}

export async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  onTestEnd(() => database.drop());
  return database;
}

export async function indexFromScratch({
  simulatedDag,
  node,
}: Pick<Harness, 'simulatedDag' | 'node'>): Promise<TestDatabase> {
  const database = await freshDatabase();
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  return database;
}

/**
 * Waits until the index shows what the node shows. The test's own requests may meet the faults that
 * it injected.
 */
export async function atRest(database: Database, node: NodeClient, indexer: RunningIndexer): Promise<void> {
  for (;;) {
    try {
      await Promise.race([untilAtRest(database.pool, node), indexer.ended]);
      return;
    } catch (error) {
      if (!(error instanceof NodeUnavailableError) && !isDatabaseUnavailable(error)) throw error;
      await sleep(50);
    }
  }
}

/** Checks every invariant that can be checked at rest. Invariant 3 needs the node. */
export async function expectInvariants(pool: Connection['pool'], node?: NodeClient): Promise<void> {
  if (node !== undefined) expect(await checkInvariant3(pool, node)).toEqual([]);
  expect(await checkInvariant4(pool)).toEqual([]);
  expect(await checkInvariant7(pool)).toEqual([]);
  expect(await checkGhostdag(pool)).toEqual([]);
  expect(await checkInvariant8(pool)).toEqual([]);
}

/**
 * Expects that the invariants hold, that a fresh index of the node shows the same, and that both
 * are as the naive model says.
 */
export async function expectRight(
  harness: Pick<Harness, 'simulatedDag' | 'node'> & { database: Database },
): Promise<void> {
  const { pool } = harness.database;
  await expectInvariants(pool, harness.node);
  expect(await applicationDifferences(pool, harness.simulatedDag)).toEqual([]);
  const fresh = await indexFromScratch(harness);
  const open = harness.simulatedDag.isHostile
    ? [...(await findOpenVariants(pool, Infinity)), ...(await findOpenVariants(fresh.pool, Infinity))]
    : await findOpenVariants(pool);
  expect(differencesOf(await takeSnapshot(fresh.pool, open), await takeSnapshot(pool, open))).toEqual([]);
}

/**
 * Indexes a node at rest from scratch with the indexer's program. `env` is added to its
 * environment.
 */
export async function snapshotOfFreshIndex(
  nodeUrl: string,
  node: NodeClient,
  env: Record<string, string> = {},
): Promise<Snapshot> {
  const database = await createTestDatabase();
  const indexer = startIndexer({ nodeUrl, databaseUrl: database.url }, env);
  try {
    await untilAtRest(database.pool, node, indexer);
    return await takeSnapshot(database.pool);
  } finally {
    await indexer.stop();
    await database.drop();
  }
}
