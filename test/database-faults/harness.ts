/**
 * A simulated DAG, an indexer and the API, with a separate Postgres behind a proxy that a test can
 * cut, silence or redirect. The test itself connects directly.
 */
import { type Connection, connect, createKey, isDatabaseUnavailable, migrate } from '@kasgres/database';
import type { SimulatedNodeOptions } from '@kasgres/devnet';
import { TcpProxy } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { expect, onTestFinished } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { startApi } from '../support/programs.ts';
import { atRest, expectRight, SEED } from '../support/harness.ts';
import { type RunningIndexer, startIndexing, SimulatedDag } from '../support/simulated-dag.ts';
import { OwnPostgres } from './own-postgres.ts';

/** The API must respond again this soon after the database. */
const RECOVERY_MS = 20_000;

export interface Harness {
  simulatedDag: SimulatedDag;
  node: NodeClient;
  postgres: OwnPostgres;
  proxy: TcpProxy;
  /** The URL through the proxy. */
  url: string;
  /** A direct connection. */
  database: Connection;
  close: () => Promise<void>;
}

export async function openHarness(name: string, nodeOptions?: Partial<SimulatedNodeOptions>): Promise<Harness> {
  console.log(`SEED=${SEED} (${name})`);
  const simulatedDag = await SimulatedDag.start(`${SEED} ${name}`, undefined, nodeOptions);
  const node = new NodeClient({ url: simulatedDag.server.url });
  const postgres = await OwnPostgres.start();
  const proxy = await TcpProxy.start(postgres.url);
  const settings = { statement_timeout: '0', lock_timeout: '0' };
  const database = connect({ url: postgres.url, applicationName: 'kasgres test', settings });
  const close = async (): Promise<void> => {
    await database.close();
    await node.close();
    simulatedDag.stop();
    proxy.stop();
    await postgres.remove();
  };
  return { simulatedDag, node, postgres, proxy, url: proxy.url, database, close };
}

/** Replaces the database by one with an empty schema. */
export async function emptyDatabase({ postgres }: Harness, tablespace?: string): Promise<void> {
  const url = new URL(postgres.url);
  url.pathname = '/postgres';
  const server = connect({ url: url.toString(), applicationName: 'kasgres test', max: 1 });
  await server.pool.query('drop database if exists kasgres with (force)');
  await server.pool.query(`create database kasgres ${tablespace === undefined ? '' : `tablespace ${tablespace}`}`);
  await server.close();
  await migrate(postgres.url);
}

/** Follows the node until the end of the test. */
export function follow({ simulatedDag, url }: Harness, variables?: Record<string, string>): RunningIndexer {
  const indexer = startIndexing(simulatedDag, url, variables);
  onTestFinished(() => indexer.stop());
  return indexer;
}

export async function openApi(harness: Harness): Promise<{ api: ApiClient; stop: () => Promise<void> }> {
  const { key } = await createKey(harness.database.kysely, { name: 'test' });
  const { program, url } = await startApi({ nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.url });
  return { api: new ApiClient(url, key), stop: () => program.stop() };
}

/**
 * Expects that the index reaches the node's sink and equals a fresh one, and that the API shows it.
 */
export async function expectRecovery(harness: Harness, indexer: RunningIndexer, api?: ApiClient): Promise<void> {
  await atRest(harness.database, harness.node, indexer);
  await expectRight(harness);
  if (api === undefined) return;
  const { sink } = await harness.node.call('getBlockDagInfo', {});
  await expect
    .poll(async () => (await api.request('/v1/rpc/getSink')).json, { timeout: RECOVERY_MS })
    .toMatchObject({ sink });
}

/** Mines until there is a new chain block. */
export function growChain({ simulatedDag }: Harness): void {
  const { consensus } = simulatedDag.node;
  const { sink } = consensus;
  while (consensus.sink === sink) simulatedDag.mine(1);
}

/** Mines until the work is done, so that faults happen in the middle of batches. */
export async function mineWhile<Result>({ simulatedDag }: Harness, work: Promise<Result>): Promise<Result> {
  return await repeatWhile(work, async () => {
    simulatedDag.mine(2);
    await sleep(50);
  });
}

export async function repeatWhile<Result>(work: Promise<Result>, step: () => Promise<unknown>): Promise<Result> {
  const done = new AbortController();
  const settled = work.finally(() => done.abort());
  settled.catch(() => undefined);
  while (!done.signal.aborted) await step();
  return await settled;
}

/** Repeats a query of the test itself until the database responds. Returns the number of rows. */
export async function queryPatiently(database: Connection, request: string, values: unknown[] = []): Promise<number> {
  for (;;) {
    try {
      return (await database.pool.query(request, values)).rowCount ?? 0;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await sleep(20);
    }
  }
}
