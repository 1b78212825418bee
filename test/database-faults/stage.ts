/**
 * A network, an indexer that follows it and the API, and between these and a Postgres of their own a proxy that a test can cut, silence
 * and turn to another server. The test looks at the database past the proxy.
 */
import { type Connection, connect, createKey, isDatabaseUnavailable, migrate } from '@kasgres/database';
import type { SimulatedNodeOptions } from '@kasgres/devnet';
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { expect, onTestFinished } from 'vitest';
import { HttpClient } from '../api/http-client.ts';
import { TcpProxy } from '../api/tcp-proxy.ts';
import { startApi } from '../node/programs.ts';
import { atRest, expectRight, SEED } from '../simulation/stage.ts';
import { type RunningIndexer, startIndexing, World } from '../simulation/world.ts';
import { OwnPostgres } from './own-postgres.ts';

/** In which the API must answer again when the database does. */
const RECOVERY_MS = 20_000;

export interface Stage {
  world: World;
  node: NodeClient;
  postgres: OwnPostgres;
  proxy: TcpProxy;
  /** Through the proxy. */
  url: string;
  /** Past the proxy. */
  database: Connection;
  close: () => Promise<void>;
}

/** @param nodeOptions what the node has beyond the usual */
export async function openStage(name: string, nodeOptions?: Partial<SimulatedNodeOptions>): Promise<Stage> {
  console.log(`SEED=${SEED} (${name})`);
  const world = await World.start(`${SEED} ${name}`, undefined, nodeOptions);
  const node = new NodeClient({ url: world.server.url });
  const postgres = await OwnPostgres.start();
  const proxy = await TcpProxy.start(postgres.address);
  const settings = { statement_timeout: '0', lock_timeout: '0' };
  const database = connect({ url: postgres.url, applicationName: 'kasgres test', settings });
  const url = new URL(postgres.url);
  url.port = String(proxy.port);
  const close = async (): Promise<void> => {
    await database.close();
    await node.close();
    world.stop();
    proxy.stop();
    await postgres.remove();
  };
  return { world, node, postgres, proxy, url: url.toString(), database, close };
}

/** A database with the schema and nothing else takes the place of what was there, in a tablespace if one is named. */
export async function emptyDatabase({ postgres }: Stage, tablespace?: string): Promise<void> {
  const url = new URL(postgres.url);
  url.pathname = '/postgres';
  const server = connect({ url: url.toString(), applicationName: 'kasgres test', max: 1 });
  await server.pool.query('drop database if exists kasgres with (force)');
  await server.pool.query(`create database kasgres ${tablespace === undefined ? '' : `tablespace ${tablespace}`}`);
  await server.close();
  await migrate(postgres.url);
}

/** Follows the node until the end of the test, whatever becomes of the database. */
export function follow({ world, url }: Stage, variables?: Record<string, string>): RunningIndexer {
  const indexer = startIndexing(world, url, variables);
  onTestFinished(() => indexer.stop());
  return indexer;
}

/** The API, as a process. */
export async function answer(stage: Stage): Promise<{ api: HttpClient; stop: () => Promise<void> }> {
  const { key } = await createKey(stage.database.kysely, { name: 'test' });
  const { program, url } = await startApi({ nodeUrl: stage.world.server.url, databaseUrl: stage.url });
  return { api: new HttpClient(url, key), stop: () => program.stop() };
}

/** The index reaches the node's sink by itself, and then is what a fresh index of the node is; the API shows it. */
export async function expectRecovery(stage: Stage, indexer: RunningIndexer, api?: HttpClient): Promise<void> {
  await atRest(stage.database, stage.node, indexer);
  await expectRight(stage);
  if (api === undefined) return;
  const { sink } = await stage.node.call('getBlockDagInfo', {});
  await expect
    .poll(async () => (await api.request('/v1/rpc/getSink')).json, { timeout: RECOVERY_MS })
    .toMatchObject({ sink });
}

/** Mines until the chain itself has grown: a block may come to stand beside it, and then there is no new chain block. */
export function growChain({ world }: Stage): void {
  const { consensus } = world.node;
  const { sink } = consensus;
  while (consensus.sink === sink) world.mine(1);
}

/** Lets the network grow, in steps, until the work is done: whatever fails meanwhile fails in the middle of things. */
export async function mineWhile<Result>({ world }: Stage, work: Promise<Result>): Promise<Result> {
  return await repeatWhile(work, async () => {
    world.mine(2);
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

/** Repeats a question of the test itself until the database can answer it. */
export async function untilItAnswers(database: Connection, question: string, values: unknown[] = []): Promise<number> {
  for (;;) {
    try {
      return (await database.pool.query(question, values)).rowCount ?? 0;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await sleep(20);
    }
  }
}
