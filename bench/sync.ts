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
import { connect, type Connection } from '@kasgres/database';
import { DEFAULT_MEMORY_LIMIT_MB, memoryBounds } from '@kasgres/indexer';
import { getNetwork } from '@kasgres/kaspa';
import { sleep } from '@kasgres/runtime';
import { copyBare } from './bare-copy.ts';
import { findNode, startPrunedNode } from './found-node.ts';
import { readNodeAlone } from './node-alone.ts';
import { describeMachine, type Figure, mediansOf, readOptions, tableOfRuns } from './options.ts';
import { readMemory } from './process-memory.ts';
import { createRunDatabase } from './run-database.ts';
import { startKasgres, type StartedKasgres } from './started-kasgres.ts';

const POLL_MS = 50;
const SIMULATION = {
  DEVNET_PAST_BLOCKS: '6000',
  DEVNET_PAST_TRANSACTIONS: '60000',
  DEVNET_BLOCKS_PER_SECOND: '0',
  DEVNET_APPLICATION_RATE: '0',
  DEVNET_TRANSACTIONS_PER_SECOND: '0',
};
const STAGES = ['wait', 'prepare', 'apply', 'finish'] as const;

interface Run {
  nodeFirstSeconds: number;
  nodeSecondSeconds: number;
  nodeBytes: number;
  /** From `npm start` until /v1/status is synced. */
  nodeToCommitSeconds: number;
  /**
   * The part of it from the moment when the indexer begins to follow the node to the end of the
   * first catch-up.
   */
  catchUpSeconds: number;
  /** The part of that until the bootstrap block is written, with its UTXO set if it has one. */
  bootstrapSeconds: number;
  ratioToNode: number;
  transactionsPerSecond: number;
  rowsPerSecond: number;
  waitSeconds: number;
  prepareSeconds: number;
  applySeconds: number;
  finishSeconds: number;
  /** From then on until everything that is deep enough is clustered. */
  clusteringSeconds: number;
  bareCopySeconds: number;
  ratioToBareCopy: number;
  transactions: number;
  rows: number;
  bytesPerTransaction: number;
  /** Undefined on other systems than Linux. */
  indexerPeakBytes: number | undefined;
}

const FIGURES: readonly Figure<Run>[] = [
  { name: 'node alone, first read, s', of: (run) => run.nodeFirstSeconds, digits: 1 },
  { name: 'node alone, second read, s', of: (run) => run.nodeSecondSeconds, digits: 1 },
  { name: '**node to commit, s**', of: (run) => run.nodeToCommitSeconds, digits: 1 },
  { name: '**ratio to the second read**', of: (run) => run.ratioToNode, digits: 2 },
  { name: 'transactions/s', of: (run) => run.transactionsPerSecond, digits: 0 },
  { name: 'rows/s', of: (run) => run.rowsPerSecond, digits: 0 },
  { name: 'catch-up without the start of programs, s', of: (run) => run.catchUpSeconds, digits: 1 },
  { name: 'bootstrap block with its UTXO set, s', of: (run) => run.bootstrapSeconds, digits: 1 },
  { name: 'waiting for the source, s', of: (run) => run.waitSeconds, digits: 1 },
  { name: 'preparing rows, s', of: (run) => run.prepareSeconds, digits: 1 },
  { name: 'COPY to commit, s', of: (run) => run.applySeconds, digits: 1 },
  { name: 'finish: indexes and derived state, s', of: (run) => run.finishSeconds, digits: 1 },
  { name: 'clustering afterwards, s', of: (run) => run.clusteringSeconds, digits: 1 },
  { name: 'bare COPY, s', of: (run) => run.bareCopySeconds, digits: 1 },
  { name: 'ratio to the bare COPY', of: (run) => run.ratioToBareCopy, digits: 2 },
  { name: 'bytes per transaction', of: (run) => run.bytesPerTransaction, digits: 0 },
  {
    name: 'resident memory of the indexer at most, MB',
    of: ({ indexerPeakBytes }) => indexerPeakBytes && indexerPeakBytes / 1e6,
    digits: 0,
  },
];

const { json, numbers, texts } = readOptions({ runs: 3, pruned: 0, transactions: 150_000 }, ['keep']);
if (texts.keep !== undefined && !process.env['DATABASE_URL']) {
  console.error('--keep needs DATABASE_URL: an embedded Postgres is deleted after the run');
  process.exit(1);
}
const limits = memoryBounds(Number(process.env['MEMORY_LIMIT_MB'] ?? DEFAULT_MEMORY_LIMIT_MB));
const node =
  numbers.pruned > 0
    ? await startPrunedNode({ utxos: Math.round(numbers.pruned * 1e6), transactions: numbers.transactions })
    : await findNode(SIMULATION);
let postgresVersion = '';
const runs: Run[] = [];
try {
  for (let index = 1; index <= numbers.runs; index += 1)
    runs.push(await runOnce(index === numbers.runs ? texts.keep : undefined));
} finally {
  await node.stop();
}
report();

async function runOnce(keepAs: string | undefined): Promise<Run> {
  const first = await readNodeAlone(node.url, limits);
  const second = await readNodeAlone(node.url, limits);
  const target = await createRunDatabase();
  const database = connect({ url: target.url, applicationName: 'kasgres bench', max: 2 });
  let isComplete = false;
  try {
    const { rows: server } = await database.pool.query<{ version: string }>(
      "select current_setting('server_version') as version",
    );
    postgresVersion = server[0]?.version ?? '';
    const { seconds, ...caughtUp } = await catchUp(database, target.url);
    const { transactions, bytes } = await measureSize(database);
    const bare = await copyBare(database);
    isComplete = true;
    return {
      nodeFirstSeconds: first.seconds,
      nodeSecondSeconds: second.seconds,
      nodeBytes: second.bytes,
      nodeToCommitSeconds: seconds,
      ...caughtUp,
      ratioToNode: seconds / second.seconds,
      transactionsPerSecond: transactions / seconds,
      rowsPerSecond: bare.rows / seconds,
      bareCopySeconds: bare.seconds,
      ratioToBareCopy: seconds / bare.seconds,
      transactions,
      rows: bare.rows,
      bytesPerTransaction: bytes / transactions,
    };
  } finally {
    await database.close();
    await target.end(isComplete ? keepAs : undefined);
  }
}

async function catchUp(database: Connection, databaseUrl: string) {
  const startedAt = performance.now();
  const programs = await startKasgres({ nodeUrl: node.url, p2pUrl: node.p2pUrl, databaseUrl });
  const until = async (isReached: () => Promise<boolean>): Promise<void> => {
    while (!(await isReached())) {
      programs.requireRunning();
      node.requireRunning();
      await sleep(POLL_MS);
    }
  };
  try {
    await until(programs.isIndexerUp);
    const indexerStartedAt = performance.now();
    await until(async () => await hasBootstrapBlock(database));
    const bootstrapSeconds = secondsSince(indexerStartedAt);
    await until(async () => await isCaughtUp(database));
    const catchUpSeconds = secondsSince(indexerStartedAt);
    await until(async () => await isSynced(programs.apiUrl));
    const seconds = secondsSince(startedAt);
    const stages = await readStages(programs);
    await until(async () => !(await isClustering(database)));
    const clusteringSeconds = secondsSince(startedAt) - seconds;
    const indexerPeakBytes = await readMemory(await programs.findIndexerProcess(), 'VmHWM');
    return { seconds, catchUpSeconds, bootstrapSeconds, ...stages, clusteringSeconds, indexerPeakBytes };
  } finally {
    await programs.stop();
  }
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000;
}

async function hasBootstrapBlock({ pool }: Connection): Promise<boolean> {
  return (await pool.query('select from checkpoint')).rowCount === 1;
}

async function isCaughtUp({ pool }: Connection): Promise<boolean> {
  return (await pool.query('select from checkpoint where not first_catch_up')).rowCount === 1;
}

async function isSynced(apiUrl: string): Promise<boolean> {
  const response = await fetch(`${apiUrl}/v1/status`).catch(() => undefined);
  return response?.ok === true && ((await response.json()) as { synced: boolean }).synced;
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
async function readStages(programs: StartedKasgres) {
  const metrics = await programs.readIndexerMetrics();
  const secondsOf = (stage: (typeof STAGES)[number]): number => {
    const [, sum] =
      new RegExp(`^kasgres_indexer_stage_seconds_sum{[^}]*stage="${stage}"[^}]*} (\\S+)$`, 'm').exec(metrics) ?? [];
    return Number(sum);
  };
  const [waitSeconds, prepareSeconds, applySeconds, finishSeconds] = STAGES.map(secondsOf) as [
    number,
    number,
    number,
    number,
  ];
  return { waitSeconds, prepareSeconds, applySeconds, finishSeconds };
}

async function measureSize({ pool }: Connection): Promise<{ transactions: number; bytes: number }> {
  const { rows } = await pool.query<Record<'transactions' | 'bytes', bigint>>(
    'select (select count(*) from transactions) as transactions, pg_database_size(current_database()) as bytes',
  );
  return { transactions: Number(rows[0]?.transactions), bytes: Number(rows[0]?.bytes) };
}

function report(): void {
  const machine = `${describeMachine()}, Postgres ${postgresVersion}`;
  if (json) {
    console.log(JSON.stringify({ machine, isSimulated: node.isSimulated, medians: mediansOf(runs), runs }, null, 2));
    return;
  }
  const { transactions, rows, nodeBytes } = runs[0] as Run;
  const [counts, megabytes] = [[transactions, rows].map((count) => count.toLocaleString('en')), nodeBytes / 1e6];
  console.log(`${machine}; ${node.isSimulated ? 'simulated node' : 'node of NODE_URL'}`);
  console.log(`${counts.join(' transactions, ')} rows, ${megabytes.toFixed(0)} MB of responses\n`);
  console.log(tableOfRuns(runs, FIGURES));
}
