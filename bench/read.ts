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
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, migrate } from '@kasgres/database';
import { startTemporaryPostgres } from '@kasgres/database/embedded';
import { fillLargeIndex } from '../test/plans/large-index.ts';
import { freePort, startApi } from '../test/support/programs.ts';
import { encodeRequest, HttpConnection, type Request } from './http-connection.ts';
import { markdownTable, median, percentile, readOptions, round } from './options.ts';
import { findSamples, GROUPS, type Reads } from './reads.ts';
import { withTemporaryKey } from './temporary-key.ts';

const CONNECTIONS = 64;
const WARM_UP_MS = 1000;

interface Measurement {
  perSecond: number;
  p50: number;
  p99: number;
}

const { json, numbers, texts, positionals } = readOptions({ runs: 3, seconds: 5 }, ['group', 'checkout']);
const [only = ''] = positionals;
const readsOf = GROUPS[texts.group ?? 'frequent'];
if (readsOf === undefined) {
  console.error(`--group must be one of ${Object.keys(GROUPS).join(', ')}`);
  process.exit(1);
}

const embedded = process.env['DATABASE_URL'] === undefined ? await startTemporaryPostgres() : undefined;
const databaseUrl = process.env['DATABASE_URL'] ?? embedded?.url ?? '';
let bareServer: ChildProcess | undefined;
try {
  if (texts.checkout === undefined) await migrate(databaseUrl);
  const database = connect({ url: databaseUrl, applicationName: 'kasgres bench' });
  if (embedded !== undefined) await fillLargeIndex(database.pool);
  try {
    const samples = await findSamples(database);
    const bareReads = samples.ids.map((id) => ({ path: `/${id}` }));
    const reads = await readsOf(samples, database);
    await withTemporaryKey(database, CONNECTIONS, async (key) => await measureAll(reads, bareReads, key));
  } finally {
    await database.close();
  }
} finally {
  bareServer?.kill();
  await embedded?.stop();
}

async function measureAll(reads: Reads, bareReads: readonly Request[], key: string): Promise<void> {
  const bare = await startBare();
  // Nothing listens at this node: no read needs one.
  const programEnv = {
    nodeUrl: 'grpc://127.0.0.1:1',
    databaseUrl,
    ...(texts.checkout !== undefined && { checkout: texts.checkout }),
  };
  const api = await startApi(programEnv, undefined, { LOG_LEVEL: 'error', PORT: String(await freePort()) });
  const results = new Map<string, Measurement[]>();
  const measure = async (name: string, url: string, requests: readonly Request[]): Promise<void> => {
    await sendAll(WARM_UP_MS, url, key, requests);
    const measured = await sendAll(numbers.seconds * 1000, url, key, requests);
    results.set(name, [...(results.get(name) ?? []), measured]);
  };
  try {
    for (let run = 0; run < numbers.runs; run += 1) {
      await measure('bare look-up', bare, bareReads);
      await measure('bare response without work', bare, [{ path: '/' }]);
      for (const [name, requests] of Object.entries(reads)) {
        if (name.includes(only)) await measure(name, api.url, requests);
      }
    }
  } finally {
    await api.program.stop();
  }
  report(results);
}

async function startBare(): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-server.ts'), databaseUrl], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  bareServer = child;
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
  if (json) {
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  const cells = rows.map(({ name, perSecond, ratio, p50, p99 }) => [name, perSecond, ratio, p50, p99]);
  console.log(markdownTable(['read', 'requests/s', 'ratio', 'p50 ms', 'p99 ms'], cells));
}
