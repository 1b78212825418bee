/**
 * How fast the indexer catches up, from node to commit, by stage, compared with two lower bounds: the node alone (its responses decoded and
 * discarded), and a bare COPY of the same rows into tables without indexes.
 *
 *   NODE_URL=grpc://127.0.0.1:16510 npm run bench:sync
 *
 * DATABASE_URL names an empty database; without it an embedded Postgres is started for the run. MEMORY_LIMIT_MB is the
 * indexer's; 2113, below its minimum, shows the cost of a chain that is longer than the memory. bench/README.md has figures.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { connect, type Connection, migrate } from '@kasgres/database';
import {
  createMetrics,
  DEFAULT_MEMORY_LIMIT_MB,
  keepClustering,
  memoryBounds,
  runIndexer,
  type RunIndexerOptions,
  NodeChoice,
  openClusteringDatabase,
  Progress,
  fetchPages,
} from '@kasgres/indexer';
import { checkNode, NodeClient } from '@kasgres/node';
import { createLogger, createRegistry, type Registry, sleep } from '@kasgres/runtime';
import copyStreams from 'pg-copy-streams';
import { startDurablePostgres } from './durable-postgres.ts';

const OPTIONS = {
  ...memoryBounds(Number(process.env['MEMORY_LIMIT_MB'] ?? DEFAULT_MEMORY_LIMIT_MB)),
  p2pUrl: undefined,
  onGap: 'stop',
} as const;
const COPIED = [
  'blocks',
  'block_parents',
  'chain_blocks',
  'transactions',
  'block_transactions',
  'scripts',
  'transaction_inputs',
  'transaction_outputs',
  'utxos',
  'balances',
  'balance_changes',
];

const nodeUrl = process.env['NODE_URL'];
if (nodeUrl === undefined) {
  console.error('NODE_URL is not set: name a loaded node, as in NODE_URL=grpc://127.0.0.1:16510 npm run bench:sync');
  process.exit(1);
}
const embedded = process.env['DATABASE_URL'] === undefined ? await startDurablePostgres() : undefined;
const databaseUrl = process.env['DATABASE_URL'] ?? embedded?.url ?? '';
try {
  await migrate(databaseUrl);
  const database = connect({ url: databaseUrl, applicationName: 'kasgres bench', max: 4 });
  const { rows: server } = await database.pool.query<{ version: string }>(
    "select current_setting('server_version') as version",
  );
  console.log(
    `${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB; Postgres ${server[0]?.version}; Node ${process.version}`,
  );
  const alone = await readNodeAlone(nodeUrl);
  const sync = await runSync(nodeUrl, database, databaseUrl);
  const bareSeconds = await copyBare(database);
  report(alone, sync, bareSeconds);
  await database.close();
} finally {
  await embedded?.stop();
}

interface Sync {
  seconds: number;
  /** From then on until everything that is deep enough is clustered. */
  clusteringSeconds: number;
  finishSeconds: number;
  transactions: number;
  rows: number;
  bytes: number;
  stages: Record<string, number>;
}

/** Reads everything that a catch-up requests, decodes it and discards it. */
async function readNodeAlone(url: string): Promise<{ seconds: number; megabytes: number }> {
  const node = new NodeClient({ url, streams: 1 + OPTIONS.pageStreams });
  const { signal } = new AbortController();
  await node.waitUntilConnected();
  const { network } = await checkNode(node);
  const started = performance.now();
  let bytes = 0;
  async function* chainHashes() {
    for (let startHash = network.genesisHash; ; ) {
      const chain = await node.getVirtualChainFromBlock(
        { startHash, includeAcceptedTransactionIds: true },
        { stream: 0 },
      );
      const last = chain.addedChainBlockHashes.at(-1);
      if (last === undefined) return;
      bytes += chain.wireBytes;
      yield chain.addedChainBlockHashes;
      startHash = last;
    }
  }
  for await (const page of fetchPages(node, network.genesisHash, chainHashes(), OPTIONS, signal))
    bytes += page.wireBytes;
  const seconds = (performance.now() - started) / 1_000;
  await node.close();
  return { seconds, megabytes: bytes / 1e6 };
}

/** Runs a first catch-up on an empty database, with clustering in parallel as in the program. */
async function runSync(url: string, database: Connection, databaseUrl: string): Promise<Sync> {
  const log = createLogger({ name: 'indexer', level: 'warn' });
  const registry = createRegistry('bench');
  const metrics = createMetrics(registry);
  const nodes = new NodeChoice({ urls: [url], client: { streams: 1 + OPTIONS.pageStreams }, log, metrics });
  const stop = new AbortController();
  const dependencies: RunIndexerOptions = {
    nodes,
    database,
    expectedNetwork: undefined,
    options: OPTIONS,
    log,
    progress: new Progress(log),
    metrics,
    status: { isFollowing: false },
  };
  const clusteringDatabase = openClusteringDatabase(databaseUrl);
  const clusteringOptions = { depth: undefined, sizeLimit: 1_000_000n, change: false };
  const started = performance.now();
  const clustering = keepClustering(
    { database: clusteringDatabase, options: clusteringOptions, log, metrics: metrics.clustering },
    stop.signal,
  );
  const following = runIndexer(dependencies, stop.signal);
  while (await isCatchingUp(database)) await Promise.race([sleep(50), following]);
  const seconds = (performance.now() - started) / 1_000;
  while (await isClustering(database)) await sleep(50);
  const clusteringSeconds = (performance.now() - started) / 1_000 - seconds;
  stop.abort();
  await following;
  await clustering;
  await clusteringDatabase.close();
  await nodes.close();
  const stages = await readStages(registry);
  const counts = await countRows(database);
  return { seconds, clusteringSeconds, finishSeconds: stages['finish'] ?? 0, stages, ...counts };
}

async function isCatchingUp(database: Connection): Promise<boolean> {
  const { rows } = await database.pool.query<{ first_catch_up: boolean }>('select first_catch_up from checkpoint');
  return rows[0]?.first_catch_up !== false;
}

/** Whether blocks deeper than simnet's settled depth are not clustered yet. */
async function isClustering(database: Connection): Promise<boolean> {
  const { rows } = await database.pool.query<{ isBehind: boolean }>(
    `select exists (
       select from chain_blocks c join blocks b on b.id = c.block_id
        where b.blue_score <= (select sink.blue_score from checkpoint join blocks sink on sink.id = checkpoint.block_id) - 100
          and c.index > coalesce((select chain_index from clustering), -1)) as "isBehind"`,
  );
  return rows[0]?.isBehind === true;
}

/** Returns the seconds that each stage took in all batches. */
async function readStages(registry: Registry): Promise<Record<string, number>> {
  const metric = await registry.getSingleMetric('kasgres_indexer_stage_seconds')?.get();
  const sums =
    metric?.values.filter((value) => 'metricName' in value && String(value.metricName).endsWith('_sum')) ?? [];
  return Object.fromEntries(sums.map(({ labels, value }) => [String(labels['stage']), value]));
}

async function countRows(database: Connection): Promise<{ transactions: number; rows: number; bytes: number }> {
  const counts = new Map<string, number>();
  for (const table of COPIED) {
    const { rows } = await database.pool.query<{ count: bigint }>(`select count(*) from ${table}`);
    counts.set(table, Number(rows[0]?.count));
  }
  const { rows: size } = await database.pool.query<{ bytes: bigint }>(
    'select pg_database_size(current_database()) as bytes',
  );
  const rows = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { transactions: counts.get('transactions') ?? 0, rows, bytes: Number(size[0]?.bytes) };
}

/** Writes the same rows by COPY in one transaction into tables without indexes. */
async function copyBare(database: Connection): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'kasgres-bare-'));
  const client = await database.pool.connect();
  try {
    await client.query('create schema bare');
    for (const table of COPIED) {
      await client.query(`create table bare.${table} (like public.${table})`);
      const source = client.query(copyStreams.to(`copy ${table} to stdout (format binary)`));
      await pipeline(source, createWriteStream(join(directory, table)));
    }
    const started = performance.now();
    await client.query('begin');
    for (const table of COPIED) {
      const target = client.query(copyStreams.from(`copy bare.${table} from stdin (format binary)`));
      await pipeline(createReadStream(join(directory, table), { highWaterMark: 1024 * 1024 }), target);
    }
    await client.query('commit');
    return (performance.now() - started) / 1_000;
  } finally {
    client.release();
    await rm(directory, { recursive: true });
  }
}

function report(alone: { seconds: number; megabytes: number }, sync: Sync, bareSeconds: number): void {
  const { seconds, clusteringSeconds, transactions, rows, bytes, stages } = sync;
  console.log(
    `node alone       ${alone.seconds.toFixed(1)} s  ${perSecond(transactions, alone.seconds)} tx/s, ${alone.megabytes.toFixed(0)} MB`,
  );
  console.log(
    `node to commit   ${seconds.toFixed(1)} s  ${perSecond(transactions, seconds)} tx/s, ${perSecond(rows, seconds)} rows/s`,
  );
  for (const [stage, time] of Object.entries(stages)) console.log(`  ${stage.padEnd(14)} ${time.toFixed(1)} s`);
  console.log(
    '  (wait: for the source; prepare: rows; apply: COPY to commit, beside the next prepare; finish: indexes, UTXOs, balances)',
  );
  console.log(
    `clustering       ${clusteringSeconds.toFixed(1)} s more  ${perSecond(transactions, clusteringSeconds)} tx/s`,
  );
  console.log(`bare COPY        ${bareSeconds.toFixed(1)} s  ${perSecond(rows, bareSeconds)} rows/s`);
  console.log(
    `${transactions.toLocaleString('en')} transactions, ${rows.toLocaleString('en')} rows, ${Math.round(bytes / transactions)} bytes per transaction`,
  );
  console.log(
    `ratios           ${(seconds / alone.seconds).toFixed(2)} x the node alone, ${(seconds / bareSeconds).toFixed(2)} x the bare COPY`,
  );
}

function perSecond(amount: number, seconds: number): string {
  return Math.round(amount / seconds).toLocaleString('en');
}
