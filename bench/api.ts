/**
 * What the API answers a second, and how long an answer takes, on a million transactions (test/plans/large-index.ts), by endpoint:
 *
 *   npm run bench:api [text in the name of a request]
 *
 * The database is an embedded Postgres, the API a process of its own; both share the cores with this client. bench/README.md has figures.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { connect, createKey, migrate, startTemporaryPostgres } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { freePort } from '../test/support/programs.ts';
import { fillLargeIndex } from '../test/plans/large-index.ts';
import { listings, pagesOf } from '../test/plans/listings.ts';
import { findLandmarks, lookUps } from '../test/plans/requests.ts';
import type { Request } from '../test/plans/harness.ts';
import { sendRequests } from './send-requests.ts';

const WARM_UP_MS = 500;
const MEASURED_MS = 3000;
const LIMIT = 20;

const only = process.argv[2] ?? '';
const postgres = await startTemporaryPostgres();
try {
  await migrate(postgres.url);
  const database = connect({ url: postgres.url, applicationName: 'kasgres bench' });
  await fillLargeIndex(database.pool);
  const { key } = await createKey(database.kysely, { name: 'bench', rateRu: 1e9 });
  const requests: Record<string, Request> = lookUps(await findLandmarks(database.pool));
  for (const [name, listing] of Object.entries(listings())) {
    for (const [place, request] of Object.entries(await pagesOf(database.pool, listing, LIMIT))) {
      if (!place.endsWith('backwards')) requests[`${name}, ${place}`] = request;
    }
  }
  await database.close();
  await withApi(postgres.url, async (url) => {
    console.log('| request | requests/s | p50 ms | p99 ms |\n|---|---|---|---|');
    for (const [name, request] of Object.entries(requests)) {
      if (name.includes(only)) console.log(await measure(name, url, key, request));
    }
  });
} finally {
  await postgres.stop();
}

/** No node answers: nothing is asked that needs one. */
async function withApi(databaseUrl: string, work: (url: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  const child = spawn(process.execPath, [fileURLToPath(new URL('../packages/api/src/main.ts', import.meta.url))], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      NODE_URL: 'grpc://127.0.0.1:1',
      PORT: String(port),
      METRICS_PORT: '0',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/v1/status`).then(
      (answer) => answer.ok,
      () => false,
    );
  try {
    while (!(await isUp())) {
      if (child.exitCode !== null) throw new Error(`the API ended with ${child.exitCode}`);
      await sleep(100);
    }
    await work(url);
  } finally {
    child.kill();
  }
}

async function measure(name: string, url: string, key: string, request: Request): Promise<string> {
  await sendRequests(WARM_UP_MS, url, key, request);
  const times = (await sendRequests(MEASURED_MS, url, key, request)).toSorted((a, b) => a - b);
  const percentile = (share: number): string => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
  const perSecond = Math.round((times.length * 1000) / MEASURED_MS);
  return `| ${name} | ${perSecond} | ${percentile(0.5)} | ${percentile(0.99)} |`;
}
