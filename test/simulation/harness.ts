/** A simulated DAG, a node client and a database for one test, and the comparison with a fresh index at its end. */
import { randomInt } from 'node:crypto';
import { type Connection, createTestDatabase, isDatabaseUnavailable, type TestDatabase } from '@kasgres/database';
import type { FaultPlan, SimulatedNodeOptions } from '@kasgres/devnet';
import { NodeClient, NodeUnavailableError } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { afterEach, expect } from 'vitest';
import type { SimulationOptions } from '../../packages/devnet/src/simulation/index.ts';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { checkInvariant4 } from '../invariants/balances.ts';
import { checkGhostdag, checkInvariant7 } from '../invariants/completeness.ts';
import { checkInvariant8 } from '../invariants/hashes.ts';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { untilAtRest } from '../node/at-rest.ts';
import { type RunningIndexer, startIndexing, SimulatedDag } from './simulated-dag.ts';

const { SEED: wanted = '1' } = process.env;
/** The same in every run, so that a gate speaks of the code alone; `SEED=random` goes looking for other simulated DAGs. */
export const SEED = wanted === 'random' ? String(randomInt(2 ** 32)) : wanted;

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** After the test, the latest first. */
export function atEnd(step: () => Promise<unknown>): void {
  cleanUp.push(step);
}

export interface Harness {
  simulatedDag: SimulatedDag;
  node: NodeClient;
  database: TestDatabase;
}

type Queryable = Pick<Connection, 'pool'>;

/**
 * @param nodeOptions what the node has beyond the usual
 * @param people what they do beyond the usual
 */
export async function setHarness(
  name: string,
  faults?: FaultPlan,
  nodeOptions?: Partial<SimulatedNodeOptions>,
  people?: Partial<SimulationOptions>,
): Promise<Harness> {
  console.log(`SEED=${SEED} (${name})`);
  const simulatedDag = await SimulatedDag.start(`${SEED} ${name}`, faults, nodeOptions, people);
  cleanUp.push(async () => simulatedDag.stop());
  const node = new NodeClient({ url: simulatedDag.server.url });
  cleanUp.push(() => node.close());
  return { simulatedDag, node, database: await freshDatabase() };
}

export async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  cleanUp.push(() => database.drop());
  return database;
}

/** Indexes the node from nothing, in one go. */
export async function indexAfresh({
  simulatedDag,
  node,
}: Pick<Harness, 'simulatedDag' | 'node'>): Promise<TestDatabase> {
  const database = await freshDatabase();
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  return database;
}

/** Waits until the index shows what the node shows; a test's own request may meet the faults that it planned. */
export async function atRest(database: Queryable, node: NodeClient, indexer: RunningIndexer): Promise<void> {
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

/** The invariants hold, and a fresh index of the node shows the same. */
export async function expectRight(
  harness: Pick<Harness, 'simulatedDag' | 'node'> & { database: Queryable },
): Promise<void> {
  const { database, node } = harness;
  expect(await checkInvariant3(database.pool, node)).toEqual([]);
  expect(await checkInvariant4(database.pool)).toEqual([]);
  expect(await checkInvariant7(database.pool)).toEqual([]);
  expect(await checkGhostdag(database.pool)).toEqual([]);
  expect(await checkInvariant8(database.pool)).toEqual([]);
  const fresh = await indexAfresh(harness);
  expect(differencesOf(await takeSnapshot(fresh.pool), await takeSnapshot(database.pool))).toEqual([]);
}
