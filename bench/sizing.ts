/**
 * The growth of an index of a simulated network at several densities: bytes per block and per payment, by table and index, and bytes per day at
 * ten blocks a second.
 *
 *   node bench/sizing.ts [blocks of each kind] [payments a block, comma-separated] [small | mainnet]
 *
 * `mainnet` makes headers of the shape that mainnet's have: a DAG so wide that a block has four to eight parents, and 54 levels of them.
 *
 * Each density has its own index. The indexer catches up with the first half of its chain and follows the second half block by block, as at the
 * tip: there indexes grow at random positions, and rows are written before they are complete. bench/README.md has figures.
 */
import { type Connection, connect, migrate, startTemporaryPostgres } from '@kasgres/database';
import {
  DEFAULT_OPTIONS,
  MAINNET_LEVELS,
  makePast,
  NodeServer,
  openSimulatedDag,
  type SimulatedDag,
} from '@kasgres/devnet';
import { fromHex } from '@kasgres/kaspa';
import { NodeClient, type RpcBlock } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { type Program, startIndexer } from '../test/support/programs.ts';

const BLOCKS_PER_SECOND = 10;
const PER_DAY = 86_400;
const COINBASE_MATURITY = 100;
/** The mean number of blocks that a miner has not heard of yet: about six parents per block. */
const MAINNET_WIDTH = 5.5;
/** Chain blocks below the sink at which the measured page of headers begins. */
const HEADER_CHAIN_BLOCKS = 30;
/** Payments per second in the table of sizes. */
const RATES = [10, 100, 1_000];

interface Growth {
  blocks: number;
  payments: number;
  /** Bytes by table and index. */
  bytes: Map<string, number>;
}

interface Measured {
  caughtUp: Growth;
  followed: Growth;
  headers: Headers;
}

/** Means of the blocks of a page. */
interface Headers {
  parents: number;
  levels: number;
  /** As the node's gRPC sends a block without its transactions. */
  wireBytes: number;
}

const [blockCount = '1500', densityList = '1,5,20', shape = 'small'] = process.argv.slice(2);
if (shape !== 'small' && shape !== 'mainnet') throw new Error(`headers are small or mainnet, not ${shape}`);
const measured: Measured[] = [];
for (const density of densityList.split(',').map(Number)) measured.push(await measure(Number(blockCount), density));
for (const how of ['caughtUp', 'followed'] as const)
  report(
    how,
    measured.map((growths) => growths[how]),
  );
for (const { headers } of measured) {
  const { parents, levels, wireBytes } = headers;
  console.log(
    `\nheaders: ${parents.toFixed(1)} parents, ${levels.toFixed(1)} levels, ${Math.round(wireBytes)} bytes on the wire`,
  );
}

async function measure(blocks: number, density: number): Promise<Measured> {
  const clock = { now: Date.now() };
  const simulatedDag = openSimulatedDag({
    options: { ...DEFAULT_OPTIONS, seed: `sizing ${density}`, ...(shape === 'mainnet' && { width: MAINNET_WIDTH }) },
    blockLevels: shape === 'mainnet' ? MAINNET_LEVELS : undefined,
    coinbaseMaturity: COINBASE_MATURITY,
    now: () => clock.now,
  });
  const past = { pastBlocks: blocks, pastTransactions: blocks * density, blocksPerSecond: BLOCKS_PER_SECOND };
  await makePast(simulatedDag, past);
  const postgres = await startTemporaryPostgres();
  const server = await NodeServer.start({ state: simulatedDag.node });
  const node = new NodeClient({ url: server.url });
  const database = connect({ url: postgres.url, applicationName: 'kasgres bench', max: 2 });
  try {
    await migrate(postgres.url);
    // These tables are small, so vacuum must run every second instead of every few hours.
    await database.pool.query("alter system set autovacuum_naptime = '1s'");
    await database.pool.query('select pg_reload_conf()');
    const empty = await readGrowth(database);
    const indexer = startIndexer({ nodeUrl: server.url, databaseUrl: postgres.url });
    await untilIndexed(database, simulatedDag, indexer);
    const before = await readGrowth(database);
    for (let block = 0; block < blocks; block++) {
      simulatedDag.simulation.pay(density);
      clock.now += 1_000 / BLOCKS_PER_SECOND;
      simulatedDag.simulation.mine(clock.now);
      await untilIndexed(database, simulatedDag, indexer);
    }
    const after = await readGrowth(database);
    await indexer.stop();
    return {
      caughtUp: subtract(before, empty),
      followed: subtract(after, before),
      headers: await readHeaders(simulatedDag, node),
    };
  } finally {
    await database.close();
    await node.close();
    server.close();
    simulatedDag.close();
    await postgres.stop();
  }
}

/** Measures the last page, where the DAG is widest. */
async function readHeaders({ node: { dag } }: SimulatedDag, node: NodeClient): Promise<Headers> {
  const low = dag.chainBlocks.at(-HEADER_CHAIN_BLOCKS) ?? dag.genesis;
  const request = { includeBlocks: true, includeTransactions: false };
  const wireBytes = await node.callRaw('getBlocks', { ...request, lowHash: low.hash }, (body) => body.length);
  const { blocks } = await node.getBlocks({ ...request, lowHash: fromHex(low.hash) });
  const mean = (numberOf: (block: RpcBlock) => number): number => sum(blocks.map(numberOf)) / blocks.length;
  return {
    parents: mean(({ header }) => header.parentsByLevel[0]?.length ?? 0),
    levels: mean(({ header }) => header.parentsByLevel.length),
    wireBytes: wireBytes / blocks.length,
  };
}

/** Waits until the index has the sink of the node. */
async function untilIndexed({ pool }: Connection, { node }: SimulatedDag, indexer: Program): Promise<void> {
  const isIndexed = `select from checkpoint join blocks on id = block_id where encode(hash, 'hex') = $1 and not first_catch_up`;
  while ((await pool.query(isIndexed, [node.dag.sink.hash])).rowCount === 0) {
    if (!indexer.isRunning()) throw new Error(`the indexer stopped:\n${indexer.output()}`);
    await sleep(20);
  }
}

async function readGrowth({ pool }: Connection): Promise<Growth> {
  const { rows: counts } = await pool.query<Record<'blocks' | 'payments', bigint>>(
    `select (select count(*) from blocks) as blocks, (select count(*) from transactions where subnetwork_id <> 1) as payments`,
  );
  const { rows } = await pool.query<{ name: string; bytes: bigint }>(
    `select relname as name, pg_table_size(oid) as bytes from pg_class
      where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace
      order by coalesce((select indrelid::regclass::text from pg_index where indexrelid = pg_class.oid), relname), relkind desc, relname`,
  );
  return {
    blocks: Number(counts[0]?.blocks),
    payments: Number(counts[0]?.payments),
    bytes: new Map(rows.map(({ name, bytes }) => [name, Number(bytes)])),
  };
}

function subtract(after: Growth, before: Growth): Growth {
  return {
    blocks: after.blocks - before.blocks,
    payments: after.payments - before.payments,
    bytes: new Map([...after.bytes].map(([name, bytes]) => [name, bytes - (before.bytes.get(name) ?? 0)])),
  };
}

/** Fits bytes = perBlock * blocks + perPayment * payments by least squares. */
function fit(growths: readonly Growth[], bytesOf: (growth: Growth) => number) {
  const sumOf = (product: (growth: Growth) => number): number => sum(growths.map(product));
  const bb = sumOf(({ blocks }) => blocks * blocks);
  const bp = sumOf(({ blocks, payments }) => blocks * payments);
  const pp = sumOf(({ payments }) => payments * payments);
  const by = sumOf((growth) => growth.blocks * bytesOf(growth));
  const py = sumOf((growth) => growth.payments * bytesOf(growth));
  const determinant = bb * pp - bp * bp;
  return { perBlock: (by * pp - py * bp) / determinant, perPayment: (py * bb - by * bp) / determinant };
}

function report(how: string, growths: readonly Growth[]): void {
  const total = fit(growths, ({ bytes }) => sum(bytes.values()));
  console.log(`\n## ${how}\n\n| table or index | bytes per block | bytes per payment |\n|---|---|---|`);
  for (const name of growths[0]?.bytes.keys() ?? []) {
    const { perBlock, perPayment } = fit(growths, ({ bytes }) => bytes.get(name) ?? 0);
    if (Math.max(perBlock, perPayment) >= 1)
      console.log(`| ${name} | ${Math.round(perBlock)} | ${Math.round(perPayment)} |`);
  }
  console.log(`| **all** | **${Math.round(total.perBlock)}** | **${Math.round(total.perPayment)}** |\n`);
  for (const { blocks, payments, bytes } of growths) {
    const actual = sum(bytes.values());
    const off = (total.perBlock * blocks + total.perPayment * payments) / actual - 1;
    const size = `${(actual / 1e6).toFixed(1)} MB; the line is ${(100 * off).toFixed(1)} % off`;
    console.log(`${blocks} blocks, ${payments} payments: ${size}`);
  }
  for (const rate of RATES) {
    const perDay = PER_DAY * (BLOCKS_PER_SECOND * total.perBlock + rate * total.perPayment);
    console.log(`${rate} payments per second: ${(perDay / 1e9).toFixed(1)} GB per day`);
  }
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}
