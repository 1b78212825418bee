/**
 * How long the API takes at the tip to show what the node announces: from the notification of a new
 * sink to the first HTTP response that shows it or a later one; and WAL bytes per transaction.
 *
 *   npm run bench:tip [-- --json] [--runs 3] [--seconds 60] [--reads-per-second 0] [--blocks-per-second 10] [--transactions-per-second 200]
 *
 * Without NODE_URL it starts a simulated node of these rates, and indexes it in an empty database:
 * on an embedded Postgres, or with DATABASE_URL beside the database that it names. With both, it
 * continues the index of DATABASE_URL. Each run begins with a checkpoint of Postgres.
 * bench/README.md says how to read the figures.
 */
import { connect, type Connection, migrate } from '@kasgres/database';
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { freePort, startApi, startIndexer } from '../test/support/programs.ts';
import { findNode } from './found-node.ts';
import { describeMachine, type Figure, mediansOf, percentile, readOptions, tableOfRuns } from './options.ts';
import { ReadLoad } from './read-load.ts';
import { createRunDatabase, type RunDatabase } from './run-database.ts';
import { isSynced, measureTip } from './measure-tip.ts';
import { withTemporaryKey } from './temporary-key.ts';
import { enableWalStatistics, measureWal, readWalPosition } from './wal.ts';

const WARM_UP_MS = 3_000;
const CONNECTIONS = 32;

interface Run {
  sinks: number;
  latencyP50Ms: number;
  latencyP99Ms: number;
  blocksPerSecond: number;
  transactionsPerSecond: number;
  walBytesPerTransaction: number;
  /** The part of them that is images of whole pages; undefined if the WAL cannot be read. */
  fullPageBytesPerTransaction: number | undefined;
  /** Undefined without --reads-per-second. */
  readP50Ms: number | undefined;
  readP99Ms: number | undefined;
}

const FIGURES: readonly Figure<Run>[] = [
  { name: 'notification to response, p50, ms', of: (run) => run.latencyP50Ms, digits: 1 },
  { name: 'notification to response, p99, ms', of: (run) => run.latencyP99Ms, digits: 1 },
  { name: 'notified sinks', of: (run) => run.sinks, digits: 0 },
  { name: 'blocks/s', of: (run) => run.blocksPerSecond, digits: 1 },
  { name: 'transactions/s', of: (run) => run.transactionsPerSecond, digits: 1 },
  { name: 'WAL bytes per transaction', of: (run) => run.walBytesPerTransaction, digits: 0 },
  { name: 'of these, full page images', of: (run) => run.fullPageBytesPerTransaction, digits: 0 },
  { name: 'reads, p50, ms', of: (run) => run.readP50Ms, digits: 1 },
  { name: 'reads, p99, ms', of: (run) => run.readP99Ms, digits: 1 },
];

const { json, numbers } = readOptions({
  runs: 3,
  seconds: 60,
  'reads-per-second': 0,
  'blocks-per-second': 10,
  'transactions-per-second': 200,
});
const node = await findNode({
  DEVNET_PAST_BLOCKS: '1500',
  DEVNET_PAST_TRANSACTIONS: '20000',
  DEVNET_APPLICATION_RATE: '0',
  DEVNET_BLOCKS_PER_SECOND: String(numbers['blocks-per-second']),
  DEVNET_TRANSACTIONS_PER_SECOND: String(numbers['transactions-per-second']),
});
/** Whether the index is in a database of this command alone. */
const isSeparate = node.isSimulated || !process.env['DATABASE_URL'];
const runs: Run[] = [];
try {
  const target = await openTarget();
  const database = connect({ url: target.url, applicationName: 'kasgres bench', max: 2 });
  try {
    await measureAll(database, target.url);
  } finally {
    await database.close();
    await target.end();
  }
} finally {
  await node.stop();
}
report();

async function openTarget(): Promise<RunDatabase> {
  const url = process.env['DATABASE_URL'];
  if (isSeparate || url === undefined) return await createRunDatabase();
  await migrate(url);
  return { url, end: async () => undefined };
}

async function measureAll(database: Connection, databaseUrl: string): Promise<void> {
  const programEnv = { nodeUrl: node.url, databaseUrl };
  const indexer = startIndexer(programEnv, { LOG_LEVEL: 'warn' });
  const api = await startApi(programEnv, undefined, { LOG_LEVEL: 'warn', PORT: String(await freePort()) });
  const client = new NodeClient({ url: node.url });
  // An index that was there before must remain as it is.
  const readsWal = isSeparate && (await enableWalStatistics(database));
  try {
    while (!(await isSynced(api.url))) {
      node.requireRunning();
      if (!indexer.isRunning()) throw new Error(`the indexer stopped:\n${indexer.output()}`);
      await sleep(100);
    }
    await withTemporaryKey(database, CONNECTIONS, async (key) => {
      const load = await ReadLoad.start(database, { url: api.url, key, perSecond: numbers['reads-per-second'] });
      await sleep(WARM_UP_MS);
      try {
        for (let run = 0; run < numbers.runs; run += 1)
          runs.push(await measure({ database, client, load, api: api.url, key, readsWal }));
      } finally {
        await load.stop();
      }
    });
  } finally {
    await client.close();
    await api.program.stop();
    await indexer.stop();
  }
}

interface Measured {
  readsWal: boolean;
  database: Connection;
  client: NodeClient;
  load: ReadLoad;
  api: string;
  key: string;
}

async function measure({ database, client, load, api, key, readsWal }: Measured): Promise<Run> {
  await database.pool.query('checkpoint');
  load.takeTimes();
  const before = await readPosition(database);
  const startedAt = performance.now();
  const { times } = await measureTip({
    client,
    url: api,
    key,
    seconds: numbers.seconds,
    requireNode: node.requireRunning,
  });
  const after = await readPosition(database);
  const seconds = (performance.now() - startedAt) / 1_000;
  const transactions = after.transactions - before.transactions;
  const wal = await measureWal(database, before.wal, after.wal, readsWal);
  const reads = load.takeTimes();
  return {
    sinks: times.length,
    latencyP50Ms: percentile(times, 0.5),
    latencyP99Ms: percentile(times, 0.99),
    blocksPerSecond: (after.blocks - before.blocks) / seconds,
    transactionsPerSecond: transactions / seconds,
    walBytesPerTransaction: wal.bytes / transactions,
    fullPageBytesPerTransaction: wal.fullPageBytes === undefined ? undefined : wal.fullPageBytes / transactions,
    readP50Ms: reads.length === 0 ? undefined : percentile(reads, 0.5),
    readP99Ms: reads.length === 0 ? undefined : percentile(reads, 0.99),
  };
}

async function readPosition(
  database: Connection,
): Promise<Record<'blocks' | 'transactions', number> & { wal: string }> {
  const { rows } = await database.pool.query<Record<'blocks' | 'transactions', number>>(
    'select next_block_id::float8 as blocks, next_transaction_id::float8 as transactions from checkpoint',
  );
  const [{ blocks, transactions } = { blocks: 0, transactions: 0 }] = rows;
  return { blocks, transactions, wal: await readWalPosition(database) };
}

function report(): void {
  const machine = describeMachine();
  const { isSimulated } = node;
  const readsPerSecond = numbers['reads-per-second'];
  if (json) {
    console.log(JSON.stringify({ machine, isSimulated, readsPerSecond, medians: mediansOf(runs), runs }, null, 2));
    return;
  }
  console.log(`${machine}; ${isSimulated ? 'simulated node' : 'node of NODE_URL'}; ${readsPerSecond} reads/s\n`);
  console.log(tableOfRuns(runs, FIGURES));
}
