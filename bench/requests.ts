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
import { performance } from 'node:perf_hooks';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { connect, type Connection, createAnalyst, migrate, removeAnalyst, upsertTags } from '@kasgres/database';
import { startEmbeddedPostgres } from '@kasgres/database/embedded';
import type { ClientBase } from 'pg';
import { isAboutApplications, readRequests } from '../test/cookbook/requests.ts';
import { startDurablePostgres } from './durable-postgres.ts';
import { RequestChain } from './request-chain/chain.ts';
import { clusterChain, indexChain } from './request-chain/index-chain.ts';

const SEED = 'requests';
const TIMES = new URL('../cookbook/times.json', import.meta.url);
const ANALYST = { name: 'bench_analyst', timeoutSeconds: 60, connections: 2 };
const SLOW_MS = 1_000;
const WARM_RUNS = 3;

const { values: options } = parseArgs({
  options: {
    transactions: { type: 'string', default: '5000000' },
    database: { type: 'string' },
    keep: { type: 'string' },
    only: { type: 'string', default: '' },
    applications: { type: 'boolean', default: false },
  },
});

if (options.database === undefined) await onEmbeddedPostgres(options.keep, measure);
else await measure(options.database);

async function onEmbeddedPostgres(keep: string | undefined, work: (url: string) => Promise<void>): Promise<void> {
  const postgres = keep === undefined ? await startDurablePostgres() : await startEmbeddedPostgres({ dataDir: keep });
  try {
    await work(postgres.url);
  } finally {
    await postgres.stop();
  }
}

async function measure(url: string): Promise<void> {
  await migrate(url);
  const database = connect({ url, applicationName: 'kasgres bench', max: 4 });
  try {
    if (await isEmpty(database)) await make(database, Number(options.transactions));
    await cluster(url);
    await vacuum(database);
    const transactions = await countAccepted(database);
    await asAnalyst(database, url, async (analyst) => {
      const times = await runAll(analyst);
      if (options.only === '') await writeTimes(transactions, times);
    });
  } finally {
    await database.close();
  }
}

async function asAnalyst(
  { pool }: Connection,
  url: string,
  work: (analyst: Connection) => Promise<void>,
): Promise<void> {
  const analystUrl = new URL(url);
  analystUrl.username = ANALYST.name;
  analystUrl.password = await createAnalyst(pool, ANALYST, console.warn);
  const analyst = connect({ url: analystUrl.toString(), applicationName: 'kasgres bench', max: 1 });
  try {
    await work(analyst);
  } finally {
    await analyst.close();
    await removeAnalyst({ pool, url }, ANALYST.name, { dropsOwned: false });
  }
}

async function isEmpty({ pool }: Connection): Promise<boolean> {
  const { rowCount } = await pool.query('select from checkpoint');
  return rowCount === 0;
}

async function make(database: Connection, transactions: number): Promise<void> {
  const startedAt = performance.now();
  const chain = new RequestChain({ seed: SEED, transactions });
  let reportedAt = startedAt;
  await indexChain(database, chain, (written) => {
    if (performance.now() - reportedAt < 10_000) return;
    reportedAt = performance.now();
    const megabytes = Math.round(process.memoryUsage.rss() / 1e6);
    console.log(`${written} transactions written in ${seconds(startedAt)} s, ${megabytes} MB resident`);
  });
  console.log(`made in ${seconds(startedAt)} s`);
  await upsertTags(database.pool, chain.tags());
}

async function cluster(url: string): Promise<void> {
  const { transactions, merges, held, seconds } = await clusterChain(url);
  if (transactions === 0) return;
  console.log(
    `clustered ${transactions} transactions in ${seconds.toFixed(1)} s, ${Math.round(transactions / seconds)} a second: ` +
      `${merges} merges, ${held} held`,
  );
}

async function vacuum({ pool }: Connection): Promise<void> {
  const startedAt = performance.now();
  await pool.query('vacuum analyze');
  console.log(`vacuumed in ${seconds(startedAt)} s`);
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
      `${counts?.scripts} scripts, ${Math.round(Number(counts?.bytes) / 1e6)} MB`,
  );
  return Number(counts?.accepted);
}

async function runAll({ pool }: Connection): Promise<Record<string, Times>> {
  const all: Record<string, Times> = {};
  console.log(`\nload average ${loadavg()[0]?.toFixed(1)}`);
  console.log('\n| request | first, ms | warm, ms | rows |\n|---|---|---|---|');
  for (const { name, sql } of readRequests()) {
    if (!name.includes(options.only) || isAboutApplications(name) !== options.applications) continue;
    const client = await pool.connect();
    try {
      const times = await timesOf(client, sql);
      all[name] = times;
      const warm = Math.round(times.ms);
      console.log(
        `| ${name} | ${Math.round(times.firstMs)} | ${times.ms > SLOW_MS ? `**${warm}**` : warm} | ${times.rows} |`,
      );
    } catch (error) {
      console.log(`| ${name} | ${error instanceof Error ? error.message : String(error)} | | |`);
    } finally {
      client.release();
    }
  }
  return all;
}

interface Times {
  /** The first run, which reads from disk. */
  firstMs: number;
  /** The median of the other runs. */
  ms: number;
  rows: number;
}

async function timesOf(client: ClientBase, sql: string): Promise<Times> {
  const first = await timeOnce(client, sql);
  const warm: number[] = [];
  for (let run = 0; run < WARM_RUNS; run += 1) warm.push((await timeOnce(client, sql)).ms);
  const ms = warm.toSorted((a, b) => a - b)[Math.floor(WARM_RUNS / 2)] as number;
  return { firstMs: first.ms, ms, rows: first.rows };
}

async function timeOnce(client: ClientBase, sql: string): Promise<{ ms: number; rows: number }> {
  const startedAt = performance.now();
  const { rowCount } = await client.query(sql);
  return { ms: performance.now() - startedAt, rows: rowCount ?? 0 };
}

async function writeTimes(transactions: number, requests: Record<string, Times>): Promise<void> {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${cpus().length} cores (${cpus()[0]?.model}), ${memory}, load average ${loadavg()[1]?.toFixed(1)}`;
  const rounded = Object.entries(requests).map(([name, { ms, firstMs }]) => {
    return [name, { ms: Math.round(ms), firstMs: Math.round(firstMs) }] as const;
  });
  const known = JSON.parse(await readFile(TIMES, 'utf8')) as object;
  const times = { machine, transactions, requests: Object.fromEntries(rounded) };
  const all = { ...known, [options.applications ? 'applications' : 'network']: times };
  await writeFile(TIMES, `${JSON.stringify(all, null, 2)}\n`);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1);
}
