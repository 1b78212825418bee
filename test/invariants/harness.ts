/**
 * An index of a simulated DAG at rest, and a connection on which each test changes rows and rolls
 * them back.
 */
import type { Connection } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import type { SimulatedNodeOptions, SimulationOptions } from '@kasgres/devnet';
import { NodeClient } from '@kasgres/node';
import type { PoolClient } from 'pg';
import { atRest } from '../support/harness.ts';
import { startIndexing, SimulatedDag } from '../support/simulated-dag.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';

export interface Harness {
  node: NodeClient;
  client: PoolClient;
  /** Other connections. */
  pool: Connection['pool'];
  /** The snapshot before any change. */
  untouched: Snapshot;
  close: () => Promise<void>;
}

/** Rounds after the first catch-up, for the rows that are written only then. */
const ROUNDS_FOLLOWED = 20;

/**
 * @param seed is fixed: the tests change rows that this DAG has
 * @param reorgDepth chain blocks that are removed in the end
 */
export async function openHarness(
  seed: string,
  rounds: number,
  nodeOptions?: Partial<SimulatedNodeOptions>,
  simulation?: Partial<SimulationOptions>,
  reorgDepth = 0,
): Promise<Harness> {
  const simulatedDag = await SimulatedDag.start(seed, undefined, nodeOptions, simulation);
  simulatedDag.mine(rounds - ROUNDS_FOLLOWED);
  const node = new NodeClient({ url: simulatedDag.server.url });
  const database = await createTestDatabase();
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  simulatedDag.mine(ROUNDS_FOLLOWED);
  if (reorgDepth > 0) {
    await atRest(database, node, indexer);
    simulatedDag.reorganise(reorgDepth);
  }
  await atRest(database, node, indexer);
  await indexer.stop();
  const untouched = await takeSnapshot(database.pool);
  const client = await database.pool.connect();
  const close = async (): Promise<void> => {
    client.release();
    await database.drop();
    await node.close();
    simulatedDag.stop();
  };
  return { node, client, pool: database.pool, untouched, close };
}
