/**
 * The API of one checkout on its own embedded Postgres with a million transactions, for compare.ts: prints one line of JSON when it is
 * ready, and ends when its standard input does. Everything but this file is of the checkout named by the argument.
 */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type * as Database from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { freePort } from '../test/support/programs.ts';
import type * as LargeIndex from '../test/plans/large-index.ts';
import type * as Listings from '../test/plans/listings.ts';
import type * as Requests from '../test/plans/requests.ts';
import type { ComparedServer } from './compare.ts';

const LIMIT = 20;

const checkout = process.argv[2] ?? '';
const load = (path: string): Promise<unknown> => import(join(checkout, path));
const { connect, createKey, migrate, startTemporaryPostgres } = (await load(
  'packages/database/src/index.ts',
)) as typeof Database;
const { fillLargeIndex } = (await load('test/plans/large-index.ts')) as typeof LargeIndex;
const { listings, pagesOf } = (await load('test/plans/listings.ts')) as typeof Listings;
const { findLandmarks, lookUps } = (await load('test/plans/requests.ts')) as typeof Requests;

const postgres = await startTemporaryPostgres();
try {
  await migrate(postgres.url);
  const database = connect({ url: postgres.url, applicationName: 'kasgres bench' });
  await fillLargeIndex(database.pool);
  const { key } = await createKey(database.kysely, { name: 'bench', rateRu: 1e9 });
  const requests = lookUps(await findLandmarks(database.pool));
  for (const [name, listing] of Object.entries(listings())) {
    for (const [position, request] of Object.entries(await pagesOf(database.pool, listing, LIMIT))) {
      if (!position.endsWith('backwards')) requests[`${name}, ${position}`] = request;
    }
  }
  await database.close();
  await serve({ key, requests });
} finally {
  await postgres.stop();
}

async function serve(ready: Omit<ComparedServer, 'url'>): Promise<void> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const api = spawn(process.execPath, [join(checkout, 'packages/api/src/main.ts')], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: postgres.url,
      // No node answers: no request of the comparison needs one.
      NODE_URL: 'grpc://127.0.0.1:1',
      PORT: new URL(url).port,
      METRICS_PORT: '0',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    while (!(await isUp(url))) {
      if (api.exitCode !== null) throw new Error(`the API ended with ${api.exitCode}`);
      await sleep(100);
    }
    process.stdin.resume();
    console.log(JSON.stringify({ url, ...ready } satisfies ComparedServer));
    await once(process.stdin, 'end');
  } finally {
    api.kill();
  }
}

function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/v1/status`).then(
    ({ ok }) => ok,
    () => false,
  );
}
