/**
 * Reads a second of the API with 64 connections, each as a ratio to a bare Fastify with one
 * prepared look-up (bare-server.ts) in the same run:
 *
 *   DATABASE_URL=postgres://… npm run bench:read [-- --json] [--runs 3] [--seconds 5] [--group explorer] [text in the name of a read]
 *
 * The groups are those of reads.ts, `frequent` by default. `--checkout DIRECTORY` measures the API
 * of another checkout, whose migrations the index has. A read that gets a response with another
 * status than 200 ends there, and counts as 0 requests a second.
 * DATABASE_URL names an index, such as one that `bench:sync` filled; without it, an embedded
 * Postgres is filled with a million transactions (test/plans/large-index.ts). Server, Postgres and
 * this client share the cores. bench/README.md has figures.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { migrate } from '@kasgres/database';
import { startTemporaryPostgres } from '@kasgres/database/embedded';
import { fillLargeIndex } from '../test/plans/large-index.ts';
import { encodeRequest, HttpConnection, type Request } from './http-connection.ts';
import { exit, markdownTable, median, percentile, readOptions, round } from './options.ts';
import { findSamples, GROUPS } from './reads.ts';
import { createTemporaryKey, openDatabase, type OpenDatabase } from './run-database.ts';
import { NO_NODE, startQuietApi } from './started-programs.ts';

const CONNECTIONS = 64;
const WARM_UP_MS = 1000;

interface Measurement {
  perSecond: number;
  p50: number;
  p99: number;
}

const options = readOptions({ runs: 3, seconds: 5, group: 'frequent', checkout: '' });
const [only = ''] = options.positionals;
const readsOf = GROUPS[options.group] ?? exit(`--group must be one of ${Object.keys(GROUPS).join(', ')}`);
report(await measureAll());

async function measureAll(): Promise<Map<string, Measurement[]>> {
  await using ends = new AsyncDisposableStack();
  const database = await openIndex(ends);
  const samples = await findSamples(database);
  const reads = await readsOf(samples, database);
  const key = await createTemporaryKey(ends, database, CONNECTIONS);
  const bare = await startBare(ends, database.url);
  const checkout = options.checkout === '' ? {} : { checkout: options.checkout };
  const env = { nodeUrl: NO_NODE, databaseUrl: database.url, ...checkout };
  const { url } = await startQuietApi(ends, env, { LOG_LEVEL: 'error' });
  const results = new Map<string, Measurement[]>();
  const measure = async (name: string, server: string, requests: readonly Request[]): Promise<void> => {
    await sendAll(WARM_UP_MS, server, key, requests);
    const measured = await sendAll(options.seconds * 1000, server, key, requests);
    results.set(name, [...(results.get(name) ?? []), measured]);
  };
  for (let run = 0; run < options.runs; run += 1) {
    await measure(
      'bare look-up',
      bare,
      samples.ids.map((id) => ({ path: `/${id}` })),
    );
    await measure('bare response without work', bare, [{ path: '/' }]);
    for (const [name, requests] of Object.entries(reads)) {
      if (name.includes(only)) await measure(name, url, requests);
    }
  }
  return results;
}

/** Opens the index of DATABASE_URL, or fills one. */
async function openIndex(ends: AsyncDisposableStack): Promise<OpenDatabase> {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined) {
    if (options.checkout === '') await migrate(given);
    return openDatabase(ends, given);
  }
  const { url } = ends.adopt(await startTemporaryPostgres(), (postgres) => postgres.stop());
  await migrate(url);
  const database = openDatabase(ends, url, 10);
  await fillLargeIndex(database.pool);
  return database;
}

async function startBare(ends: AsyncDisposableStack, databaseUrl: string): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-server.ts'), databaseUrl], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  ends.defer(() => void child.kill());
  for await (const line of createInterface({ input: child.stdout })) return (JSON.parse(line) as { url: string }).url;
  throw new Error('the bare server did not start');
}

/**
 * Sends the requests in turn over all connections, at most until a response has another status than
 * 200.
 */
async function sendAll(durationMs: number, url: string, key: string, reads: readonly Request[]): Promise<Measurement> {
  const requests = reads.map((read) => encodeRequest(url, key, read));
  const times: number[] = [];
  let next = 0;
  let hasFailed = false;
  const endAt = performance.now() + durationMs;
  const work = async (): Promise<void> => {
    const connection = new HttpConnection(url);
    while (!hasFailed && performance.now() < endAt) {
      const startedAt = performance.now();
      const index = next++ % requests.length;
      const { status } = await connection.send(requests[index] as Buffer);
      if (status === 200) times.push(performance.now() - startedAt);
      else if (!hasFailed) {
        hasFailed = true;
        console.error(`${reads[index]?.path} responds ${status}`);
      }
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return {
    perSecond: hasFailed ? 0 : (times.length * 1000) / durationMs,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}

function report(results: ReadonlyMap<string, readonly Measurement[]>): void {
  const medians = [...results].map(([name, measured]) => ({
    name,
    perSecond: Math.round(median(measured.map(({ perSecond }) => perSecond))),
    p50: round(median(measured.map(({ p50 }) => p50)), 1),
    p99: round(median(measured.map(({ p99 }) => p99)), 1),
  }));
  const bare = medians[0]?.perSecond ?? Number.NaN;
  const rows = medians.map((row) => ({ ...row, ratio: round(row.perSecond / bare, 3) }));
  if (options.json) {
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  const cells = rows.map(({ name, perSecond, ratio, p50, p99 }) => [name, perSecond, ratio, p50, p99]);
  console.log(markdownTable(['read', 'requests/s', 'ratio', 'p50 ms', 'p99 ms'], cells));
}
