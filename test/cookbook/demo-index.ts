/** The demo network in a database: indexed to its end by the indexer, with names for the large owners. */
import { createTestDatabase, type TestDatabase, upsertTags } from '@kasgres/database';
import { clusterStep } from '@kasgres/state';
import { NodeClient } from '@kasgres/node';
import { untilAtRest } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { type DemoNetwork, startDemoNetwork } from './demo-network.ts';

const CLUSTERING = { depth: 0n, sizeLimit: 1_000_000n, change: false };
const TRANSACTIONS_A_STEP = 20_000;

export interface DemoIndex {
  network: DemoNetwork;
  database: TestDatabase;
  close: () => Promise<void>;
}

export async function openDemoIndex(): Promise<DemoIndex> {
  const network = await startDemoNetwork();
  const database = await createTestDatabase();
  const node = new NodeClient({ url: network.server.url });
  const indexer = startIndexing(network, database.url);
  await Promise.race([untilAtRest(database.pool, node), indexer.ended]);
  await indexer.stop();
  await node.close();
  await upsertTags(database.pool, network.tags);
  await cluster(database);
  return {
    network,
    database,
    close: async () => {
      network.stop();
      await database.drop();
    },
  };
}

/** All of it: nothing will be undone. */
async function cluster({ pool }: TestDatabase): Promise<void> {
  const client = await pool.connect();
  let isBusy = true;
  while (isBusy) ({ isBusy } = await clusterStep(client, CLUSTERING, TRANSACTIONS_A_STEP));
  client.release();
}
