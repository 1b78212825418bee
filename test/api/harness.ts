/**
 * A database that the real indexer filled from a simulated node, and the real API in front of both, as a process. The seed is fixed: these
 * tests are about the API, and what the chain holds is told by it.
 */
import { createKey, createTestDatabase, type TestDatabase } from '@kasgres/database';
import { NodeClient } from '@kasgres/node';
import { untilAtRest } from '../support/harness.ts';
import { type Program, type ProgramEnv, startApi } from '../support/programs.ts';
import { type RunningIndexer, startIndexing, SimulatedDag } from '../support/simulated-dag.ts';
import { ApiClient } from '../support/api-client.ts';

export interface Harness {
  simulatedDag: SimulatedDag;
  /** Asks the simulated node itself. */
  node: NodeClient;
  database: TestDatabase;
  indexer: RunningIndexer;
  /** Another indexer goes on where one that was stopped ended. */
  resumeIndexing: () => void;
  program: Program;
  api: ApiClient;
  /** Waits until the index shows what the node shows. */
  atRest: () => Promise<void>;
  close: () => Promise<void>;
}

export interface HarnessOptions {
  rounds: number;
  /** Of the network; always the same by default. */
  seed?: string;
  /** Puts something between the API and what it asks. */
  between?: (direct: ProgramEnv) => ProgramEnv | Promise<ProgramEnv>;
  /** With the schema. One of the test server by default. */
  database?: TestDatabase;
  /** More of the API's environment. */
  variables?: Record<string, string>;
}

export async function openHarness({
  rounds,
  seed = 'api',
  between = (direct) => direct,
  database: given,
  variables,
}: HarnessOptions): Promise<Harness> {
  const simulatedDag = await SimulatedDag.start(seed);
  simulatedDag.mine(rounds);
  const database = given ?? (await createTestDatabase());
  const node = new NodeClient({ url: simulatedDag.server.url });
  let indexer = startIndexing(simulatedDag, database.url);
  const atRest = () => Promise.race([untilAtRest(database.pool, node), indexer.ended]);
  await atRest();
  const { key } = await createKey(database.kysely, { name: 'test', rateRu: 500 });
  const direct = { nodeUrl: simulatedDag.server.url, databaseUrl: database.url };
  const { program, url } = await startApi(await between(direct), undefined, variables);
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
