/**
 * How long the queries of the cookbook take on five million transactions. Fills a database with the
 * indexer's own apply (request-chain/), or uses an existing one, and runs each query as a read-only
 * analyst.
 *
 *   node bench/requests.ts [--transactions 5000000] [--database URL | --keep DIRECTORY] [--only TEXT]
 *   node bench/requests.ts --applications --database URL
 *
 * Without a URL it starts an embedded Postgres, in a temporary directory or in one that is kept.
 * The generated chain has no covenants, programs, lanes and protocols: --applications runs the
 * queries about these, and only these, on a database that has some. --only runs the queries with
 * this text in their name and writes no file; otherwise the times are written to
 * cookbook/times.json. Five million transactions take about 3.5 GB of memory here:
 * NODE_OPTIONS=--max-old-space-size=8192. bench/README.md has figures.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { type Connection, createAnalyst, migrate, removeAnalyst, upsertTags } from '@kasgres/database';
import { startEmbeddedPostgres } from '@kasgres/database/embedded';
import { getNetwork } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import { isAboutApplications, readRequests } from '../test/cookbook/requests.ts';
import { cluster } from '../test/support/cluster.ts';
import { describeMachine, markdownTable, median, readOptions, secondsSince } from './options.ts';
import { RequestChain } from './request-chain/chain.ts';
import { indexChain } from './request-chain/index-chain.ts';
import { openDatabase, type OpenDatabase, startDurablePostgres } from './run-database.ts';

const SEED = 'requests';
const TIMES = new URL('../cookbook/times.json', import.meta.url);
const ANALYST = { name: 'bench_analyst', timeoutSeconds: 60, connections: 2 };
const SLOW_MS = 1_000;
const WARM_RUNS = 3;
const REPORT_MS = 10_000;
/** About as many as the indexer clusters in one step on an idle machine. */
const TRANSACTIONS_PER_STEP = 2_000;

interface Times {
  /** The first run, which reads from disk. */
  firstMs: number;
  /** The median of the other runs. */
  ms: number;
  rows: number;
}

const options = readOptions({ transactions: 5_000_000, database: '', keep: '', only: '', applications: false });
await using ends = new AsyncDisposableStack();
const url = options.database || (await startPostgres());
await migrate(url);
const database = openDatabase(ends, url);
if ((await database.pool.query('select from checkpoint')).rowCount === 0) await make();
await clusterChain();
await reportTime('vacuumed', () => database.pool.query('vacuum analyze'));
const accepted = await countAccepted(database);
const analyst = await openAnalyst();
const times = await timeAll(analyst);
if (options.only === '') await writeTimes(times);

async function startPostgres(): Promise<string> {
  if (options.keep === '') return await startDurablePostgres(ends);
  return ends.adopt(await startEmbeddedPostgres({ dataDir: options.keep }), (postgres) => postgres.stop()).url;
}

async function openAnalyst(): Promise<OpenDatabase> {
  const password = await createAnalyst(database.pool, ANALYST, console.warn);
  ends.defer(() => removeAnalyst(database, ANALYST.name, { dropsOwned: false }));
  const analystUrl = Object.assign(new URL(url), { username: ANALYST.name, password });
  return openDatabase(ends, analystUrl.toString(), 1);
}

async function make(): Promise<void> {
  const chain = new RequestChain({ seed: SEED, transactions: options.transactions });
  let reportedAt = performance.now();
  await reportTime('made', () =>
    indexChain(database, chain, (written) => {
      if (performance.now() - reportedAt < REPORT_MS) return;
      reportedAt = performance.now();
      const megabytes = Math.round(process.memoryUsage.rss() / 1e6);
      console.log(`${written} transactions written, ${megabytes} MB resident`);
    }),
  );
  await upsertTags(database.pool, chain.tags());
}

async function clusterChain(): Promise<void> {
  const startedAt = performance.now();
  const { settledDepth: depth } = getNetwork('simnet');
  const { transactions, merges, held } = await cluster({ url }, { depth }, TRANSACTIONS_PER_STEP);
  if (transactions === 0) return;
  const seconds = secondsSince(startedAt);
  console.log(
    `clustered ${transactions} transactions in ${seconds.toFixed(1)} s, ${Math.round(transactions / seconds)} a second: ` +
      `${merges} merges, ${held} held`,
  );
}

async function reportTime(done: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work();
  console.log(`${done} in ${secondsSince(startedAt).toFixed(1)} s`);
}

async function countAccepted({ pool }: Connection): Promise<number> {
  const { rows } = await pool.query<Record<'accepted' | 'blocks' | 'scripts' | 'inputs' | 'outputs' | 'bytes', bigint>>(
    `select (select count(*) from transactions where accepting_index is not null) as accepted,
            (select count(*) from blocks) as blocks, (select count(*) from scripts) as scripts,
            (select count(*) from transaction_inputs) as inputs,
            (select count(*) from transaction_outputs) as outputs,
              pg_database_size(current_database()) as bytes`,
  );
  const [counts] = rows;
  console.log(
    `${counts?.accepted} accepted transactions, ${counts?.blocks} blocks, ${counts?.inputs} inputs, ${counts?.outputs} outputs, ` +
      `${counts?.scripts} scripts, ${Math.round(Number(counts?.bytes) / 1e6)} MB\n`,
  );
  return Number(counts?.accepted);
}

/** Prints the times of all queries that are wanted. Those that fail have none. */
async function timeAll({ pool }: Connection): Promise<Record<string, Times>> {
  const all: Record<string, Times> = {};
  const rows: (string | number)[][] = [];
  for (const { name, sql } of readRequests()) {
    if (!name.includes(options.only) || isAboutApplications(name) !== options.applications) continue;
    const client = await pool.connect();
    try {
      const times = await timesOf(client, sql);
      all[name] = times;
      const warm = Math.round(times.ms);
      rows.push([name, Math.round(times.firstMs), times.ms > SLOW_MS ? `**${warm}**` : warm, times.rows]);
    } catch (error) {
      rows.push([name, error instanceof Error ? error.message : String(error), '', '']);
    } finally {
      client.release();
    }
  }
  console.log(markdownTable(['request', 'first, ms', 'warm, ms', 'rows'], rows));
  return all;
}

async function timesOf(client: ClientBase, sql: string): Promise<Times> {
  const first = await timeOnce(client, sql);
  const warm: number[] = [];
  while (warm.length < WARM_RUNS) warm.push((await timeOnce(client, sql)).ms);
  return { firstMs: first.ms, ms: median(warm), rows: first.rows };
}

async function timeOnce(client: ClientBase, sql: string): Promise<{ ms: number; rows: number }> {
  const startedAt = performance.now();
  const { rowCount } = await client.query(sql);
  return { ms: performance.now() - startedAt, rows: rowCount ?? 0 };
}

async function writeTimes(all: Record<string, Times>): Promise<void> {
  const rounded = Object.entries(all).map(([name, { ms, firstMs }]) => {
    return [name, { ms: Math.round(ms), firstMs: Math.round(firstMs) }] as const;
  });
  const known = JSON.parse(await readFile(TIMES, 'utf8')) as object;
  const measured = { machine: describeMachine(), transactions: accepted, requests: Object.fromEntries(rounded) };
  const changed = { ...known, [options.applications ? 'applications' : 'network']: measured };
  await writeFile(TIMES, `${JSON.stringify(changed, null, 2)}\n`);
}
