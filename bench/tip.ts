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
import { type Connection, migrate } from '@kasgres/database';
import { findNode, type FoundNode } from './found-node.ts';
import { measureTip } from './measure-tip.ts';
import { percentile, printRuns, readOptions, type RunOf, secondsSince } from './options.ts';
import { type ReadLoad, startReadLoad } from './read-load.ts';
import { openDatabase, type OpenDatabase, openRunDatabase } from './run-database.ts';
import { type AtTip, startAtTip } from './started-programs.ts';
import { enableWalStatistics, measureWal, readWalPosition } from './wal.ts';

const FIGURES = {
  latencyP50Ms: ['notification to response, p50, ms', 1],
  latencyP99Ms: ['notification to response, p99, ms', 1],
  sinks: ['notified sinks', 0],
  blocksPerSecond: ['blocks/s', 1],
  transactionsPerSecond: ['transactions/s', 1],
  walBytesPerTransaction: ['WAL bytes per transaction', 0],
  // Undefined if the WAL cannot be read.
  fullPageBytesPerTransaction: ['of these, full page images', 0],
  // Undefined without --reads-per-second.
  readP50Ms: ['reads, p50, ms', 1],
  readP99Ms: ['reads, p99, ms', 1],
} as const;
type Run = RunOf<typeof FIGURES>;

const options = readOptions({
  runs: 3,
  seconds: 60,
  'reads-per-second': 0,
  'blocks-per-second': 10,
  'transactions-per-second': 200,
});
const readsPerSecond = options['reads-per-second'];
await using ends = new AsyncDisposableStack();
const node = await findNode(ends, {
  DEVNET_PAST_BLOCKS: '1500',
  DEVNET_PAST_TRANSACTIONS: '20000',
  DEVNET_APPLICATION_RATE: '0',
  DEVNET_BLOCKS_PER_SECOND: String(options['blocks-per-second']),
  DEVNET_TRANSACTIONS_PER_SECOND: String(options['transactions-per-second']),
});
const { isSimulated } = node;
printRuns(options.json, { isSimulated, readsPerSecond }, await measureRuns(node), FIGURES);

async function measureRuns(node: FoundNode): Promise<Run[]> {
  await using ends = new AsyncDisposableStack();
  const url = node.isSimulated ? undefined : process.env['DATABASE_URL'];
  const database = url ? await openIndex(ends, url) : await openRunDatabase(ends);
  const atTip = await startAtTip(ends, node, database, { concurrency: 32 });
  // An index that was there before must remain as it is.
  const readsWal = !url && (await enableWalStatistics(database));
  const load = await startReadLoad(atTip, readsPerSecond);
  ends.defer(() => load.stop());
  const runs: Run[] = [];
  while (runs.length < options.runs) runs.push(await measure(atTip, load, readsWal));
  return runs;
}

async function openIndex(ends: AsyncDisposableStack, url: string): Promise<OpenDatabase> {
  await migrate(url);
  return openDatabase(ends, url);
}

async function measure(atTip: AtTip, load: ReadLoad, readsWal: boolean): Promise<Run> {
  const { database } = atTip;
  await database.pool.query('checkpoint');
  load.takeTimes();
  const before = await readPosition(database);
  const startedAt = performance.now();
  const { times } = await measureTip(atTip, options.seconds);
  const after = await readPosition(database);
  const seconds = secondsSince(startedAt);
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
