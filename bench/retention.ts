/**
 * Whether an index with RETENTION stays as large and as fast as it is, over many retention periods of a simulated network.
 *
 *   npm run bench:retention [-- --json] [--periods 10] [--blue-scores 200]
 *
 * DATABASE_URL names a server, on which a database is created and dropped; without it, an embedded Postgres is started.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Connection } from '@kasgres/database';
import { clusterStep } from '@kasgres/state';
import { type RunningIndexer, SimulatedDag, startIndexing } from '../test/support/simulated-dag.ts';
import { describeMachine, markdownTable, readOptions, round } from './options.ts';
import { createRunDatabase } from './run-database.ts';

const CLUSTERING = { depth: 10n, sizeLimit: 1_000_000n, change: false };
const TRANSACTIONS_PER_STEP = 1_000;
const ROUNDS = 4;
const PAYMENTS = 20;

interface Period {
  blueScore: number;
  chainBlocks: number;
  transactions: number;
  partitions: number;
  /** Of the partitioned tables. */
  megabytes: number;
  /** Mean of the batches of the period. */
  applyMs: number;
  cuts: number;
  /** Mean time between two batches that the cuts of the period took. */
  cutMs: number;
}

const { json, numbers } = readOptions({ periods: 10, 'blue-scores': 200 });
const retention = numbers['blue-scores'];
const target = await createRunDatabase();
const database = connect({ url: target.url, applicationName: 'kasgres bench', max: 2 });
const dag = await SimulatedDag.start('retention', undefined, { commitsToUtxos: true }, { redRate: 0 });
const indexer = startIndexing(dag, target.url, {
  FINALITY_DEPTH: '80',
  PRUNING_DEPTH: '90',
  RETENTION: String(retention),
});
try {
  const periods: Period[] = [];
  let before = await stagesOf(indexer);
  for (let period = 1; period <= numbers.periods; period += 1) {
    while (Number(dag.node.dag.sink.header.blueScore) < period * retention) await advance(database);
    const stages = await stagesOf(indexer);
    periods.push({ ...(await sizesOf(database)), ...between(before, stages) });
    before = stages;
    console.error(JSON.stringify(periods.at(-1)));
  }
  report(periods);
} finally {
  await indexer.stop();
  dag.stop();
  await database.close();
  await target.end();
}

async function advance({ pool }: Connection): Promise<void> {
  dag.mine(ROUNDS, PAYMENTS);
  const sink = Buffer.from(dag.node.dag.sink.hash, 'hex');
  for (;;) {
    const { rows } = await pool.query<{ hash: Buffer; first_catch_up: boolean }>(
      'select b.hash, c.first_catch_up from checkpoint c join blocks b on b.id = c.block_id',
    );
    if (rows[0]?.first_catch_up === false && sink.equals(rows[0].hash)) break;
    await Promise.race([sleep(5), indexer.ended]);
  }
  const client = await pool.connect();
  try {
    while ((await clusterStep(client, CLUSTERING, TRANSACTIONS_PER_STEP)).isBusy);
  } finally {
    client.release();
  }
}

type Stages = Record<'apply' | 'cut', { sum: number; count: number }>;

async function stagesOf({ metrics }: RunningIndexer): Promise<Stages> {
  const { values } = await metrics.stageSeconds.get();
  const valueOf = (stage: string, suffix: string): number =>
    values.find(({ metricName, labels }) => metricName?.endsWith(suffix) === true && labels['stage'] === stage)
      ?.value ?? 0;
  const stage = (name: string) => ({ sum: valueOf(name, '_sum'), count: valueOf(name, '_count') });
  return { apply: stage('apply'), cut: stage('cut') };
}

function between(from: Stages, to: Stages): Pick<Period, 'applyMs' | 'cuts' | 'cutMs'> {
  const cuts = to.cut.count - from.cut.count;
  const meanMs = (stage: 'apply' | 'cut'): number =>
    (1_000 * (to[stage].sum - from[stage].sum)) / Math.max(1, to[stage].count - from[stage].count);
  return { applyMs: round(meanMs('apply'), 1), cuts, cutMs: round(meanMs('cut'), 1) };
}

async function sizesOf({ pool }: Connection): Promise<Omit<Period, 'applyMs' | 'cuts' | 'cutMs'>> {
  const { rows } = await pool.query<Omit<Period, 'applyMs' | 'cuts' | 'cutMs'>>(
    `select (select max(blue_score) from chain_blocks)::float8 as "blueScore", (select count(*) from chain_blocks)::float8 as "chainBlocks",
            (select count(*) from transactions)::float8 as transactions,
            (select count(*) from pg_partition_tree('blocks') where isleaf)::float8 as partitions,
            (select round(sum(pg_total_relation_size(leaf.relid)) / 1e6, 1)
               from pg_partitioned_table t, pg_partition_tree(t.partrelid) leaf)::float8 as megabytes`,
  );
  const [sizes] = rows;
  if (sizes === undefined) throw new Error('the index is empty');
  return sizes;
}

function report(periods: readonly Period[]): void {
  if (json) {
    console.log(JSON.stringify({ machine: describeMachine(), retention, periods }));
    return;
  }
  console.log(`${describeMachine()}; RETENTION=${retention}\n`);
  console.log(
    markdownTable(
      ['blue score', 'chain blocks', 'transactions', 'partitions', 'MB', 'batch, ms', 'cuts', 'cut, ms'],
      periods.map((period): number[] => Object.values<number>({ ...period })),
    ),
  );
}
