/**
 * The API of one checkout on its own embedded Postgres with a million transactions, for api.ts and compare.ts. Prints one line of JSON when it
 * is ready, and exits when its standard input ends. All code except this file comes from the checkout that the argument names.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type * as Database from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { freePort } from '../test/support/programs.ts';
import type * as LargeIndex from '../test/plans/large-index.ts';
import type * as Listings from '../test/plans/listings.ts';
import type * as Requests from '../test/plans/requests.ts';
import type { ComparedServer } from './send-requests.ts';

const LIMIT = 20;

const checkout = process.argv[2] ?? '';
/** Imports the first of these files that the checkout has: files of older commits have other names. */
const load = (...paths: readonly string[]): Promise<unknown> => {
  const found = paths.map((path) => join(checkout, path)).find(existsSync);
  if (found === undefined) throw new Error(`${checkout} has no file ${paths.join(' or ')}`);
  return import(found);
};
const { connect, createKey, migrate, startTemporaryPostgres } = (await load(
  'packages/database/src/index.ts',
)) as typeof Database;
const { fillLargeIndex } = (await load('test/plans/large-index.ts')) as typeof LargeIndex;
const { listings, pagesOf } = (await load('test/plans/listings.ts')) as typeof Listings;
const { findLandmarks, lookUps } = (await load('test/plans/requests.ts', 'test/plans/questions.ts')) as typeof Requests;

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
      // Nothing listens there: no request of the comparison needs a node.
      NODE_URL: 'grpc://127.0.0.1:1',
      PORT: new URL(url).port,
      METRICS_PORT: '0',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    while (!(await isUp(url))) {
      if (api.exitCode !== null) throw new Error(`the API exited with code ${api.exitCode}`);
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
