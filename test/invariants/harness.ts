/**
 * An index of a simulated network, right and at rest, and one connection to its database: what a test changes there by hand, it takes back,
 * so that one index serves all.
 */
import { type Connection, createTestDatabase } from '@kasgres/database';
import type { SimulatedNodeOptions } from '@kasgres/devnet';
import { NodeClient } from '@kasgres/node';
import type { PoolClient } from 'pg';
import { atRest } from '../support/harness.ts';
import { startIndexing, SimulatedDag } from '../support/simulated-dag.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';

export interface Harness {
  node: NodeClient;
  client: PoolClient;
  /** Connections beside it. */
  pool: Connection['pool'];
  /** Of the index as it was written. */
  untouched: Snapshot;
  close: () => Promise<void>;
}

/** After the first catch-up: what only then is kept has rows too. */
const ROUNDS_FOLLOWED = 20;

/**
 * @param seed the tests' own, not one by chance: they change rows that this network has
 * @param nodeOptions what the node has beyond the usual
 */
export async function openHarness(
  seed: string,
  rounds: number,
  nodeOptions?: Partial<SimulatedNodeOptions>,
): Promise<Harness> {
  const simulatedDag = await SimulatedDag.start(seed, undefined, nodeOptions);
  simulatedDag.mine(rounds - ROUNDS_FOLLOWED);
  const node = new NodeClient({ url: simulatedDag.server.url });
  const database = await createTestDatabase();
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  simulatedDag.mine(ROUNDS_FOLLOWED);
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
