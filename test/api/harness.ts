/**
 * A database that the real indexer fills from a simulated node, and the real API as a process. The
 * seed is fixed, because these tests are about the API: the expected responses follow from the
 * seed's chain.
 */
import { createKey } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import type { SimulationOptions } from '@kasgres/devnet';
import { untilAtRest } from '../support/harness.ts';
import { type Program, type ProgramEnv, startApi } from '../support/programs.ts';
import { type RunningIndexer, startIndexing, SimulatedDag } from '../support/simulated-dag.ts';
import { ApiClient } from '../support/api-client.ts';

export interface Harness {
  simulatedDag: SimulatedDag;
  /** A client of the simulated node. */
  node: NodeClient;
  database: TestDatabase;
  indexer: RunningIndexer;
  /** Starts another indexer, which continues at the checkpoint. */
  resumeIndexing: () => void;
  program: Program;
  api: ApiClient;
  /** Waits until the index has the state of the node. */
  atRest: () => Promise<void>;
  close: () => Promise<void>;
}

export interface HarnessOptions {
  rounds?: number;
  /** The seed of the network; always the same by default. */
  seed?: string;
  simulation?: Partial<SimulationOptions>;
  /** Mines instead of `rounds`. */
  mine?: (simulatedDag: SimulatedDag) => void;
  /** Puts a proxy between the API and its node or database. */
  between?: (direct: ProgramEnv) => ProgramEnv | Promise<ProgramEnv>;
  /** A migrated database; by default a new one on the test server. */
  database?: TestDatabase;
  /** Additional environment variables of the API. */
  variables?: Record<string, string>;
}

/** Without it the API would create a file. */
const WEBHOOK_SECRET_KEY = Buffer.alloc(32, 'test').toString('base64');

export async function openHarness({
  rounds = 0,
  seed = 'api',
  simulation,
  mine = (dag) => dag.mine(rounds),
  between = (direct) => direct,
  database: given,
  variables,
}: HarnessOptions): Promise<Harness> {
  const simulatedDag = await SimulatedDag.start(seed, undefined, undefined, simulation);
  mine(simulatedDag);
  const database = given ?? (await createTestDatabase());
  const node = new NodeClient({ url: simulatedDag.server.url });
  let indexer = startIndexing(simulatedDag, database.url);
  const atRest = () => Promise.race([untilAtRest(database.pool, node), indexer.ended]);
  await atRest();
  const { key } = await createKey(database.kysely, { name: 'test', rateRu: 500 });
  const direct = { nodeUrl: simulatedDag.server.url, databaseUrl: database.url };
  const { program, url } = await startApi(await between(direct), undefined, { WEBHOOK_SECRET_KEY, ...variables });
  return {
    simulatedDag,
    node,
    database,
    get indexer() {
      return indexer;
    },
    resumeIndexing: () => {
      indexer = startIndexing(simulatedDag, database.url);
    },
    program,
    api: new ApiClient(url, key),
    atRest,
    close: async () => {
      await program.stop();
      await indexer.stop();
      await node.close();
      simulatedDag.stop();
      await database.drop();
    },
  };
}
