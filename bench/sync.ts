/**
 * How fast a first catch-up is, from `npm start` on a prepared database until /v1/status is synced,
 * as a ratio to the node alone: the second, warm of two reads of everything that the catch-up
 * requests, decoded and discarded. The other lower bound is a bare COPY of the same rows.
 *
 *   npm run bench:sync [-- --json] [--runs 3] [--keep NAME] [--pruned MILLIONS] [--transactions 150000]
 *
 * NODE_URL names a node; without it, a simulated one is started. It has a chain since genesis, or
 * with --pruned, a generated UTXO set of that size at its pruning point and these transactions
 * above it. A node of NODE_URL may have pruned its chain, too; then NODE_P2P_URL names its peer.
 * Each run has its own empty database: on an embedded Postgres, or with DATABASE_URL beside the
 * database that it names. --keep gives the last of these a name instead of dropping it.
 * bench/README.md has figures.
 */
import type { Connection } from '@kasgres/database';
import { DEFAULT_MEMORY_LIMIT_MB, memoryBounds } from '@kasgres/indexer';
import { getNetwork } from '@kasgres/kaspa';
import { sleep } from '@kasgres/runtime';
import { copyBare } from './bare-copy.ts';
import { findNode, startPrunedNode } from './found-node.ts';
import { readNodeAlone } from './node-alone.ts';
import { exit, printRuns, readOptions, type RunOf, secondsSince } from './options.ts';
import { readMemory } from './process-usage.ts';
import { type OpenDatabase, openRunDatabase } from './run-database.ts';
import { isSynced, startKasgres } from './started-programs.ts';

const POLL_MS = 50;
const SIMULATION = {
  DEVNET_PAST_BLOCKS: '6000',
  DEVNET_PAST_TRANSACTIONS: '60000',
  DEVNET_BLOCKS_PER_SECOND: '0',
  DEVNET_APPLICATION_RATE: '0',
  DEVNET_TRANSACTIONS_PER_SECOND: '0',
};

const FIGURES = {
  nodeFirstSeconds: ['node alone, first read, s', 1],
  nodeSecondSeconds: ['node alone, second read, s', 1],
  // From `npm start` until /v1/status is synced.
  nodeToCommitSeconds: ['**node to commit, s**', 1],
  ratioToNode: ['**ratio to the second read**', 2],
  transactionsPerSecond: ['transactions/s', 0],
  rowsPerSecond: ['rows/s', 0],
  // From the moment when the indexer begins to follow the node to the end of the first catch-up.
  catchUpSeconds: ['catch-up without the start of programs, s', 1],
  // The part of that until the bootstrap block is written.
  bootstrapSeconds: ['bootstrap block with its UTXO set, s', 1],
  waitSeconds: ['waiting for the source, s', 1],
  prepareSeconds: ['preparing rows, s', 1],
  applySeconds: ['COPY to commit, s', 1],
  finishSeconds: ['finish: indexes and derived state, s', 1],
  // From then on until everything that is deep enough is clustered.
  clusteringSeconds: ['clustering afterwards, s', 1],
  bareCopySeconds: ['bare COPY, s', 1],
  ratioToBareCopy: ['ratio to the bare COPY', 2],
  transactions: ['transactions', 0],
  rows: ['rows', 0],
  nodeBytes: ['bytes of responses', 0],
  bytesPerTransaction: ['bytes per transaction', 0],
  // Undefined on other systems than Linux.
  indexerPeakBytes: ['resident memory of the indexer at most, bytes', 0],
} as const;
type Run = RunOf<typeof FIGURES>;

const options = readOptions({ runs: 3, pruned: 0, transactions: 150_000, keep: '' });
if (options.keep !== '' && !process.env['DATABASE_URL'])
  exit('--keep needs DATABASE_URL: an embedded Postgres is deleted after the run');
const limits = memoryBounds(Number(process.env['MEMORY_LIMIT_MB'] ?? DEFAULT_MEMORY_LIMIT_MB));
await using ends = new AsyncDisposableStack();
const node =
  options.pruned > 0
    ? await startPrunedNode(ends, { utxos: Math.round(options.pruned * 1e6), transactions: options.transactions })
    : await findNode(ends, SIMULATION);
const { isSimulated } = node;
let postgres = '';
const runs: Run[] = [];
while (runs.length < options.runs) runs.push(await runOnce(runs.length === options.runs - 1));
printRuns(options.json, { isSimulated, postgres }, runs, FIGURES);

async function runOnce(isLast: boolean): Promise<Run> {
  const first = await readNodeAlone(node.url, limits);
  const second = await readNodeAlone(node.url, limits);
  await using ends = new AsyncDisposableStack();
  let isComplete = false;
  const database = await openRunDatabase(ends, () => (isLast && isComplete ? options.keep : ''));
  const { rows: server } = await database.pool.query<{ version: string }>(
    "select current_setting('server_version') as version",
  );
  postgres = server[0]?.version ?? '';
  const { nodeToCommitSeconds: seconds, ...caughtUp } = await catchUp(database);
  const { transactions, bytes } = await measureSize(database);
  const bare = await copyBare(database);
  isComplete = true;
  return {
    nodeFirstSeconds: first.seconds,
    nodeSecondSeconds: second.seconds,
    nodeToCommitSeconds: seconds,
    ratioToNode: seconds / second.seconds,
    transactionsPerSecond: transactions / seconds,
    rowsPerSecond: bare.rows / seconds,
    ...caughtUp,
    bareCopySeconds: bare.seconds,
    ratioToBareCopy: seconds / bare.seconds,
    transactions,
    rows: bare.rows,
    nodeBytes: second.bytes,
    bytesPerTransaction: bytes / transactions,
  };
}

async function catchUp(database: OpenDatabase) {
  await using ends = new AsyncDisposableStack();
  const startedAt = performance.now();
  const programs = await startKasgres(ends, { nodeUrl: node.url, p2pUrl: node.p2pUrl, databaseUrl: database.url });
  const until = async (isReached: () => Promise<boolean>): Promise<void> => {
    while (!(await isReached())) {
      programs.requireRunning();
      node.requireRunning();
      await sleep(POLL_MS);
    }
  };
  await until(async () => (await programs.readIndexerMetrics().catch(() => undefined)) !== undefined);
  const indexerStartedAt = performance.now();
  await until(async () => await hasOne(database, 'select from checkpoint'));
  const bootstrapSeconds = secondsSince(indexerStartedAt);
  await until(async () => await hasOne(database, 'select from checkpoint where not first_catch_up'));
  const catchUpSeconds = secondsSince(indexerStartedAt);
  await until(async () => await isSynced(programs.apiUrl));
  const nodeToCommitSeconds = secondsSince(startedAt);
  const stages = findStages(await programs.readIndexerMetrics());
  await until(async () => !(await isClustering(database)));
  const clusteringSeconds = secondsSince(startedAt) - nodeToCommitSeconds;
  const indexerPeakBytes = await readMemory(await programs.findIndexerProcess(), 'VmHWM');
  return { nodeToCommitSeconds, catchUpSeconds, bootstrapSeconds, ...stages, clusteringSeconds, indexerPeakBytes };
}

async function hasOne({ pool }: Connection, select: string): Promise<boolean> {
  return (await pool.query(select)).rowCount === 1;
}

/** Whether blocks deeper than the settled depth of the network are not clustered yet. */
async function isClustering({ pool }: Connection): Promise<boolean> {
  const { rows: meta } = await pool.query<{ network: string }>('select network from meta');
  const { rows } = await pool.query<{ isBehind: boolean }>(
    `select exists (
       select from chain_blocks c
        where c.blue_score <= (select sink.blue_score from checkpoint
          join blocks sink on sink.id = checkpoint.block_id) - $1::bigint
          and c.index > coalesce((select chain_index from clustering), -1)) as "isBehind"`,
    [getNetwork(meta[0]?.network ?? '').settledDepth],
  );
  return rows[0]?.isBehind === true;
}

/** Returns the seconds that each stage took in all batches. */
function findStages(metrics: string): Record<`${'wait' | 'prepare' | 'apply' | 'finish'}Seconds`, number> {
  const secondsOf = (stage: string): number => {
    const pattern = new RegExp(`^kasgres_indexer_stage_seconds_sum{[^}]*stage="${stage}"[^}]*} (\\S+)$`, 'm');
    return Number(pattern.exec(metrics)?.[1]);
  };
  return {
    waitSeconds: secondsOf('wait'),
    prepareSeconds: secondsOf('prepare'),
    applySeconds: secondsOf('apply'),
    finishSeconds: secondsOf('finish'),
  };
}

async function measureSize({ pool }: Connection): Promise<{ transactions: number; bytes: number }> {
  const { rows } = await pool.query<Record<'transactions' | 'bytes', bigint>>(
    'select (select count(*) from transactions) as transactions, pg_database_size(current_database()) as bytes',
  );
  return { transactions: Number(rows[0]?.transactions), bytes: Number(rows[0]?.bytes) };
}
