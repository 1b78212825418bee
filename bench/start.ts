/**
 * The time of a bootstrap at a pruning point, from the first UTXO to a complete index: the real indexer, a separate process, on a simulated node
 * whose whole chain is its pruning point, with a generated UTXO set of any size.
 *
 *   node bench/start.ts [UTXOs in millions]
 *
 * It runs on an embedded Postgres. All programs share the cores. bench/README.md has figures.
 */
import { connect, type Connection, migrate } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { freePort, startIndexer } from '../test/support/programs.ts';
import { startDurablePostgres } from './durable-postgres.ts';
import { startPruningPoint } from './generated-set.ts';

const SAMPLE_MS = 500;

const count = Math.round(Number(process.argv[2] ?? 5) * 1e6);
const point = await startPruningPoint(count);
const postgres = await startDurablePostgres();
try {
  await migrate(postgres.url);
  const database = connect({ url: postgres.url, applicationName: 'kasgres bench', max: 2 });
  await measure(database);
  await database.close();
} finally {
  await postgres.stop();
  point.close();
}

async function measure(database: Connection): Promise<void> {
  const port = await freePort();
  const variables = { NODE_P2P_URL: point.p2pUrl, METRICS_PORT: String(port) };
  const indexer = startIndexer({ nodeUrl: point.nodeUrl, databaseUrl: postgres.url }, variables);
  let stepStartedAt = performance.now();
  let step: Step = 'loading';
  let residentBytes = 0;
  let stagedBytes = 0;
  while (step !== 'finished') {
    if (!indexer.isRunning()) throw new Error(`the indexer stopped:\n${indexer.output()}`);
    await sleep(SAMPLE_MS);
    residentBytes = Math.max(residentBytes, await readResidentBytes(port));
    stagedBytes = Math.max(stagedBytes, await sizeOf(database, 'loaded_utxos'));
    const reached = await readStep(database);
    if (reached === step) continue;
    const seconds = (performance.now() - stepStartedAt) / 1_000;
    console.log(`${reached}: after ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} UTXOs per second`);
    stepStartedAt = performance.now();
    step = reached;
  }
  await indexer.stop();
  console.log(`memory: ${Math.round(residentBytes / 1e6)} MB resident at most`);
  console.log(`loaded_utxos: ${Math.round(stagedBytes / count)} bytes per UTXO, until the bootstrap is finished`);
  for (const table of [
    'bootstrap_utxos',
    'pre_bootstrap_transactions',
    'scripts',
    'utxos',
    'balances',
    'previous_balance_changes',
  ]) {
    console.log(`${table}: ${Math.round((await sizeOf(database, table)) / count)} bytes per UTXO, with indexes`);
  }
}

/** `loaded`: staged and hashed; `written`: the bootstrap block is committed; `finished`: indexes, UTXOs and balances are built. */
type Step = 'loading' | 'loaded' | 'written' | 'finished';

async function readStep({ pool }: Connection): Promise<Step> {
  const { rows } = await pool.query<{ step: Step }>(
    `select case when exists (select from checkpoint where not first_catch_up) then 'finished'
                 when exists (select from checkpoint) then 'written'
                 when exists (select from utxo_set_load where utxos = $1) then 'loaded' else 'loading' end as step`,
    [count],
  );
  return rows[0]?.step ?? 'loading';
}

async function readResidentBytes(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
  return Number(/^process_resident_memory_bytes(?:{.*})? (\S+)$/m.exec((await response?.text()) ?? '')?.[1] ?? 0);
}

async function sizeOf({ pool }: Connection, table: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: bigint }>(
    `select coalesce(sum(pg_total_relation_size(relid)), pg_total_relation_size($1::text::regclass)) as bytes
       from pg_partition_tree($1::text::regclass)`,
    [table],
  );
  return Number(rows[0]?.bytes);
}
