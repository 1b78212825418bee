/** Programs that benchmarks measure, each as a process until the end of the measurement. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import {
  freePort,
  isFree,
  type Program,
  type ProgramEnv,
  startApi,
  startIndexer,
  startProgram,
} from '../test/support/programs.ts';
import type { FoundNode } from './found-node.ts';
import { createTemporaryKey, type OpenDatabase } from './run-database.ts';

const WARM_UP_MS = 3_000;
const POLL_MS = 100;
/** Nothing listens here: for reads that need no node. */
export const NO_NODE = 'grpc://127.0.0.1:1';

export interface StartedApi {
  program: Program;
  url: string;
}

/** Starts the API without logs of requests, which would take time that is measured. */
export async function startQuietApi(
  ends: AsyncDisposableStack,
  env: ProgramEnv,
  variables: Readonly<Record<string, string>> = {},
): Promise<StartedApi> {
  const PORT = String(await freePort());
  const api = await startApi(env, undefined, { LOG_LEVEL: 'warn', PORT, ...variables });
  ends.defer(() => api.program.stop());
  return api;
}

/** The indexer and the API at the tip of a node. */
export interface AtTip {
  database: OpenDatabase;
  client: NodeClient;
  api: StartedApi;
  key: string;
  /** @throws Error if the simulated node has exited */
  requireNode: () => void;
}

/** Starts both, and waits until the index is synced and the programs are warm. */
export async function startAtTip(
  ends: AsyncDisposableStack,
  node: FoundNode,
  database: OpenDatabase,
  { concurrency, variables = {} }: { concurrency: number; variables?: Readonly<Record<string, string>> },
): Promise<AtTip> {
  const env = { nodeUrl: node.url, databaseUrl: database.url };
  const indexer = startIndexer(env, { LOG_LEVEL: 'warn' });
  ends.defer(() => indexer.stop());
  const api = await startQuietApi(ends, env, variables);
  const client = ends.adopt(new NodeClient({ url: node.url }), (open) => open.close());
  while (!(await isSynced(api.url))) {
    node.requireRunning();
    if (!indexer.isRunning()) throw new Error(`the indexer stopped:\n${indexer.output()}`);
    await sleep(POLL_MS);
  }
  const key = await createTemporaryKey(ends, database, concurrency);
  await sleep(WARM_UP_MS);
  return { database, client, api, key, requireNode: node.requireRunning };
}

export async function isSynced(apiUrl: string): Promise<boolean> {
  const response = await fetch(`${apiUrl}/v1/status`).catch(() => undefined);
  return response?.ok === true && ((await response.json()) as { synced: boolean }).synced;
}

/** `kasgres start`, which `npm start` runs. */
export interface StartedKasgres {
  apiUrl: string;
  /** @throws Error with its output if it has exited */
  requireRunning: () => void;
  findIndexerProcess: () => Promise<number>;
  /**
   * Returns the metrics of the indexer in the text format of Prometheus, which it serves from the
   * moment when it begins to follow the node.
   */
  readIndexerMetrics: () => Promise<string>;
}

/** Starts it on a given node and database, with the variables of this process. */
export async function startKasgres(
  ends: AsyncDisposableStack,
  { nodeUrl, p2pUrl, databaseUrl }: ProgramEnv & { p2pUrl?: string | undefined },
): Promise<StartedKasgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kasgres-bench-'));
  ends.defer(async () => await rm(dataDir, { recursive: true }));
  const [port, metricsPort] = [await freePort(), await freePortPair()];
  const variables = {
    LOG_LEVEL: 'warn',
    ...process.env,
    NODE_URL: nodeUrl,
    ...(p2pUrl && { NODE_P2P_URL: p2pUrl }),
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
  };
  const kasgres = startProgram('../../packages/cli/bin/kasgres.js', { nodeUrl, databaseUrl }, variables, ['start']);
  ends.defer(() => kasgres.stop());
  return {
    apiUrl: `http://127.0.0.1:${port}`,
    requireRunning: () => {
      if (!kasgres.isRunning()) throw new Error(`kasgres start exited:\n${kasgres.output()}`);
    },
    findIndexerProcess: async () => {
      const file = JSON.parse(await readFile(join(dataDir, 'runtime.json'), 'utf8')) as { processIds: number[] };
      // With a given node and database, the indexer is the first program that it starts.
      return file.processIds[0] ?? 0;
    },
    readIndexerMetrics: async () => await (await fetch(`http://127.0.0.1:${metricsPort + 1}/metrics`)).text(),
  };
}

/** Returns a free port whose successor is free too: `start` gives that one to the indexer. */
async function freePortPair(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + 1)) return port;
  }
}
