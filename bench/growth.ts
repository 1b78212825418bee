/**
 * Whether an index becomes slower as it grows: the time of a batch, of an address page and of a
 * look-up at sizes from half a million transactions to --transactions, and the ratio of the last to
 * the first.
 *
 *   npm run bench:growth [-- --json] [--transactions 20000000] [--first 500000] [--marks 3] [--samples 200] [--runs 3]
 *
 * For each size, a generated chain (request-chain/) of that length is written to a new database
 * with the indexer's own prepare and apply, in a first catch-up; the batches that are measured
 * follow in normal operation. DATABASE_URL names a server, on which databases are created and
 * dropped; without it, an embedded Postgres is started for each. The generator keeps its UTXOs in
 * memory. bench/README.md says how to read the figures.
 */
import type { Connection } from '@kasgres/database';
import { encodeRequest, HttpConnection } from './http-connection.ts';
import { describeMachine, exit, markdownTable, median, readOptions, round } from './options.ts';
import { RequestChain } from './request-chain/chain.ts';
import { ChainWriter, takeBatch, TRANSACTIONS_PER_BATCH } from './request-chain/index-chain.ts';
import { createTemporaryKey, type OpenDatabase, openRunDatabase } from './run-database.ts';
import { NO_NODE, startQuietApi } from './started-programs.ts';

const MEASURED_BATCHES = 20;
const PAGE = 20;
/**
 * A batch must be small in relation to the index, and large in relation to the fixed costs of a
 * transaction of Postgres.
 */
const TRANSACTIONS_PER_MEASURED_BATCH = 1_000;
/**
 * Batches end with a whole chain block, so they have more transactions, up to twice as many in a
 * small index.
 */
const SPARE = 2;
const REPORTED_TRANSACTIONS = 1_000_000;
/** With more, the generator would need more memory than the index. */
const MAX_SPENDABLE = 1_000_000;

type Chain = ReturnType<RequestChain['chainBlocks']>;

/** Medians in milliseconds. */
interface Times {
  batchMs: number;
  pageMs: number;
  lookUpMs: number;
}

interface Mark extends Times {
  transactions: number;
  databaseBytes: number;
}

const options = readOptions({ transactions: 20_000_000, first: 500_000, marks: 3, samples: 200, runs: 3 });
const { transactions, first, marks, samples, runs } = options;
if (first <= 0 || transactions <= first || !Number.isInteger(marks) || marks < 2)
  exit('--transactions must be above --first, and --marks a whole number of at least 2');
// Sizes grow by the same factor from mark to mark.
const sizes = Array.from({ length: marks }, (_, index) =>
  Math.round(first * (transactions / first) ** (index / (marks - 1))),
);
const perBatch = Math.min(TRANSACTIONS_PER_MEASURED_BATCH, Math.ceil(first / 100));
/** Below the first size, so that earlier rows are looked up at all sizes alike. */
const memoryTransactions = Math.floor(first / 5);
const measured: Mark[] = [];
/** Those of the first size, which all sizes have. */
let addresses: string[] | undefined;
for (const size of sizes) measured.push(await measureSize(size));
report();

async function measureSize(size: number): Promise<Mark> {
  await using ends = new AsyncDisposableStack();
  const database = await openRunDatabase(ends);
  const spare = Math.ceil(runs * MEASURED_BATCHES * perBatch * SPARE);
  // Every size is a part of the same chain, since the length of a chain determines its rate of
  // transactions.
  const chain = new RequestChain({
    seed: 'growth',
    transactions: transactions + spare,
    maxSpendable: MAX_SPENDABLE,
  });
  const blocks = chain.chainBlocks();
  await catchUp(database, chain, blocks, size);
  addresses ??= await findAddresses(database);
  return await measureIndex(database, chain, blocks, addresses);
}

async function catchUp(database: Connection, chain: RequestChain, blocks: Chain, size: number): Promise<void> {
  await using writer = await ChainWriter.open(database, chain);
  let reported = 0;
  while (writer.transactions < size) {
    const missing = size - writer.transactions;
    await writer.write(await takeRequired(blocks, Math.min(TRANSACTIONS_PER_BATCH, missing)));
    if (writer.transactions - reported < REPORTED_TRANSACTIONS) continue;
    reported = writer.transactions;
    console.error(`${reported} of ${size} transactions are written`);
  }
  await writer.finishFirstCatchUp();
}

async function takeRequired(blocks: Chain, count: number): ReturnType<typeof takeBatch> {
  const added = await takeBatch(blocks, count);
  if (added.length === 0) throw new Error('the generated chain is too short');
  return added;
}

/** @param blocks those that follow the written ones */
async function measureIndex(
  database: OpenDatabase,
  chain: RequestChain,
  blocks: Chain,
  addresses: readonly string[],
): Promise<Mark> {
  await using ends = new AsyncDisposableStack();
  // Otherwise autovacuum would run during some measurements and not during others.
  await database.pool.query('vacuum analyze');
  await database.pool.query('checkpoint');
  const writer = ends.use(await ChainWriter.open(database, chain, memoryTransactions));
  const { url } = await startQuietApi(ends, { nodeUrl: NO_NODE, databaseUrl: database.url });
  const key = await createTemporaryKey(ends, database, 2);
  const { transactions } = writer;
  const pages = addresses.map((address) => `/v1/addresses/${address}/transactions?limit=${PAGE}`);
  const lookUps = (await sampleIds(database, transactions)).map((id) => `/v1/transactions/${id}`);
  const rounds: Times[] = [];
  for (let run = 0; run < runs; run += 1) {
    rounds.push({
      batchMs: median(await timeBatches(writer, blocks)),
      pageMs: median(await timeReads(url, key, pages, checkPage)),
      lookUpMs: median(await timeReads(url, key, lookUps)),
    });
  }
  const batchMs = median(rounds.map((round) => round.batchMs));
  const pageMs = median(rounds.map((round) => round.pageMs));
  const lookUpMs = median(rounds.map((round) => round.lookUpMs));
  console.error(
    `${transactions} transactions: batch ${round(batchMs, 1)} ms, page ${round(pageMs, 2)} ms, look-up ${round(lookUpMs, 2)} ms`,
  );
  return { transactions, batchMs, pageMs, lookUpMs, databaseBytes: await countBytes(database) };
}

async function countBytes({ pool }: Connection): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>('select pg_database_size(current_database())::float8 as bytes');
  return rows[0]?.bytes ?? Number.NaN;
}

/** Times prepare and apply, without the generation of the blocks. */
async function timeBatches(writer: ChainWriter, blocks: Chain): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < MEASURED_BATCHES; index += 1) {
    const added = await takeRequired(blocks, perBatch);
    const startedAt = performance.now();
    await writer.write(added);
    await writer.flush();
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** Reads everything twice on one connection, and times the second read. */
async function timeReads(
  url: string,
  key: string,
  paths: readonly string[],
  check?: (body: string) => void,
): Promise<number[]> {
  for (const path of paths) {
    const response = await fetch(`${url}${path}`, { headers: { 'x-api-key': key } });
    const body = await response.text();
    if (!response.ok) throw new Error(`${path} responds ${response.status}: ${body}`);
    check?.(body);
  }
  const connection = new HttpConnection(url);
  const times: number[] = [];
  for (const path of paths) {
    const request = encodeRequest(url, key, { path });
    const startedAt = performance.now();
    const { status } = await connection.send(request);
    if (status !== 200) throw new Error(`${path} responds ${status}`);
    times.push(performance.now() - startedAt);
  }
  connection.close();
  return times;
}

function checkPage(body: string): void {
  const { length } = (JSON.parse(body) as { transactions: unknown[] }).transactions;
  if (length !== PAGE) throw new Error(`a page has ${length} transactions instead of ${PAGE}`);
}

async function findAddresses({ pool }: Connection): Promise<string[]> {
  const { rows } = await pool.query<{ address: string }>(
    `select s.address from balances b join scripts s on s.id = b.script_id
      where b.transaction_count >= $1 and s.address is not null order by md5(s.address) limit $2`,
    [PAGE, samples],
  );
  if (rows.length === 0) throw new Error(`no address has ${PAGE} transactions at the first size: raise --first`);
  return rows.map(({ address }) => address);
}

/** Samples the whole index evenly. */
async function sampleIds({ pool }: Connection, transactions: number): Promise<string[]> {
  const keys = Array.from({ length: samples }, (_, index) => 1 + Math.floor(((index + 0.5) * transactions) / samples));
  const { rows } = await pool.query<{ id: string }>(
    "select encode(transaction_id, 'hex') as id from transactions where id = any($1::bigint[])",
    [keys],
  );
  return rows.map(({ id }) => id);
}

function report(): void {
  const [one, last] = [measured[0] as Mark, measured.at(-1) as Mark];
  const ratios = {
    batch: round(last.batchMs / one.batchMs, 3),
    page: round(last.pageMs / one.pageMs, 3),
    lookUp: round(last.lookUpMs / one.lookUpMs, 3),
  };
  const machine = describeMachine();
  if (options.json) {
    console.log(JSON.stringify({ machine, transactionsPerBatch: perBatch, marks: measured, ratios }, null, 2));
    return;
  }
  const rows = measured.map(({ transactions, databaseBytes, batchMs, pageMs, lookUpMs }) => [
    transactions.toLocaleString('en'),
    round(databaseBytes / 1e9, 2),
    round(batchMs, 1),
    round(pageMs, 2),
    round(lookUpMs, 2),
  ]);
  console.log(`${machine}; batches of ${perBatch} transactions\n`);
  const head = ['transactions', 'GB', 'batch, ms', 'address page of 20, ms', 'transaction by id, ms'];
  console.log(markdownTable(head, [...rows, ['**last / first**', '', ratios.batch, ratios.page, ratios.lookUp]]));
}
