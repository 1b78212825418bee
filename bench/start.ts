/**
 * The time of a bootstrap at a pruning point, from the first UTXO to a complete index: the real indexer, a separate process, on a simulated node
 * whose whole chain is its pruning point, with a generated UTXO set of any size.
 *
 *   node bench/start.ts [UTXOs in millions]
 *
 * It runs on an embedded Postgres. All programs share the cores. bench/README.md has figures.
 */
import { connect, type Connection, migrate } from '@kasgres/database';
import { freePort, type Program, startIndexer } from '../test/support/programs.ts';
import { startDurablePostgres } from './durable-postgres.ts';
import { startPruningPoint } from './generated-set.ts';

const SAMPLE_MS = 1_000;

await main();

async function main(): Promise<void> {
  const count = Math.round(Number(process.argv[2] ?? 5) * 1e6);
  const point = await startPruningPoint(count);
  const postgres = await startDurablePostgres();
  try {
    await migrate(postgres.url);
    const database = connect({ url: postgres.url, applicationName: 'kasgres bench', max: 2 });
    await measure(count, database, { ...point, databaseUrl: postgres.url });
    await database.close();
  } finally {
    await postgres.stop();
    point.close();
  }
}

interface Urls {
  nodeUrl: string;
  p2pUrl: string;
  databaseUrl: string;
}

async function measure(count: number, database: Connection, { nodeUrl, p2pUrl, databaseUrl }: Urls): Promise<void> {
  const port = await freePort();
  const indexer = startIndexer({ nodeUrl, databaseUrl }, { NODE_P2P_URL: p2pUrl, METRICS_PORT: String(port) });
  const samples: Sample[] = [];
  let staged = 0;
  const startedAt = Date.now();
  while (!indexer.output().includes('finished the first catch-up')) {
    if (!indexer.isRunning()) throw new Error(`the indexer stopped:\n${indexer.output()}`);
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    const sample = await readSample(port);
    if (sample !== undefined) samples.push(sample);
    staged = Math.max(staged, await sizeOf(database, 'loaded_utxos'));
  }
  const finishedAt = Date.now();
  await indexer.stop();
  report(count, startedAt, finishedAt, indexer, samples);
  console.log(`loaded_utxos: ${Math.round(staged / count)} bytes a UTXO, until the bootstrap is finished`);
  for (const table of ['start_utxos', 'earlier_transactions', 'scripts', 'utxos', 'balances', 'balance_changes']) {
    console.log(`${table}: ${Math.round((await sizeOf(database, table)) / count)} bytes a UTXO, with indexes`);
  }
}

function report(count: number, startedAt: number, finishedAt: number, indexer: Program, samples: Sample[]): void {
  const lines = indexer
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as { time: number | string; msg: string });
  const at = (words: string): number => {
    const line = lines.find(({ msg }) => msg.includes(words));
    return line === undefined ? Number.NaN : new Date(line.time).getTime();
  };
  const steps: [string, number][] = [
    ['loaded and checked', at('is the one that the header commits to')],
    ['written as the bootstrap block', at('began an index at the pruning point')],
    ['indexes, UTXOs and balances', finishedAt],
  ];
  let before = startedAt;
  for (const [step, end] of steps) {
    const seconds = (end - before) / 1_000;
    console.log(`${step}: ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} UTXOs a second`);
    before = end;
  }
  console.log(`all: ${((finishedAt - startedAt) / 1_000).toFixed(1)} s`);
  const loading = samples.filter(({ utxos }) => utxos > 0);
  for (let tenth = 0; tenth < 10; tenth++) {
    const part = loading.filter(({ utxos }) => Math.min(9, Math.floor((utxos * 10) / count)) === tenth);
    if (part.length > 0) console.log(`memory at ${tenth * 10} % of the load: ${megabytes(part)} MB resident at most`);
  }
  console.log(`memory in all: ${megabytes(samples)} MB resident at most`);
}

interface Sample {
  utxos: number;
  bytes: number;
}

async function readSample(port: number): Promise<Sample | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
  const text = await response?.text();
  const value = (name: string): number => Number(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'm').exec(text ?? '')?.[1]);
  if (text === undefined) return undefined;
  return { utxos: value('kasgres_indexer_bootstrap_utxos_loaded'), bytes: value('process_resident_memory_bytes') };
}

function megabytes(samples: readonly Sample[]): number {
  return Math.round(Math.max(...samples.map(({ bytes }) => bytes)) / 1e6);
}

async function sizeOf({ pool }: Connection, table: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: bigint }>('select pg_total_relation_size($1) as bytes', [table]);
  return Number(rows[0]?.bytes);
}
