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
import { untilAtRest } from '../test/support/harness.ts';
import { startIndexer } from '../test/support/programs.ts';

const BLOCKS_PER_SECOND = 10;
const PER_DAY = 86_400;
const COINBASE_MATURITY = 100;
/** The mean number of blocks that a miner has not heard of yet: about six parents per block. */
const MAINNET_WIDTH = 5.5;
/** Chain blocks below the sink at which the measured page of headers begins. */
const HEADER_CHAIN_BLOCKS = 30;
/** Payments per second in the table of sizes. */
const RATES = [10, 100, 1_000];

type Sizes = Map<string, number>;

interface Growth {
  blocks: number;
  payments: number;
  /** Inputs and outputs of payments and coinbases. */
  inputs: number;
  outputs: number;
  /** Bytes by relation. */
  bytes: Sizes;
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
report(
  'caught up with',
  measured.map(({ caughtUp }) => caughtUp),
);
report(
  'followed block by block',
  measured.map(({ followed }) => followed),
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
    await untilAtRest(database.pool, node, indexer);
    const before = await readGrowth(database);
    for (let block = 0; block < blocks; block++) {
      await mine(simulatedDag, density, clock);
      await untilAtRest(database.pool, node, indexer);
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
  const request = { lowHash: low.hash, includeBlocks: true, includeTransactions: false };
  const page = await node.callRaw('getBlocks', request, (body) => body.length);
  const { blocks } = await node.getBlocks({
    lowHash: fromHex(low.hash),
    includeBlocks: true,
    includeTransactions: false,
  });
  const mean = (numberOf: (block: RpcBlock) => number): number => sum(blocks.map(numberOf)) / blocks.length;
  return {
    parents: mean(({ header }) => header.parentsByLevel[0]?.length ?? 0),
    levels: mean(({ header }) => header.parentsByLevel.length),
    wireBytes: page / blocks.length,
  };
}

async function mine({ simulation }: SimulatedDag, payments: number, clock: { now: number }): Promise<void> {
  simulation.pay(payments);
  clock.now += 1_000 / BLOCKS_PER_SECOND;
  simulation.mine(clock.now);
}

async function readGrowth({ pool }: Connection): Promise<Growth> {
  const { rows: counts } = await pool.query<Record<'blocks' | 'payments' | 'inputs' | 'outputs', bigint>>(
    `select (select count(*) from blocks) as blocks,
            (select count(*) from transactions where subnetwork_id <> 1) as payments,
            (select count(*) from transaction_inputs) as inputs,
            (select count(*) from transaction_outputs) as outputs`,
  );
  const { rows } = await pool.query<{ name: string; bytes: bigint }>(
    `select relname as name, pg_table_size(oid) as bytes from pg_class
      where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace
      order by coalesce((select indrelid::regclass::text from pg_index where indexrelid = pg_class.oid), relname), relkind desc, relname`,
  );
  return {
    blocks: Number(counts[0]?.blocks),
    payments: Number(counts[0]?.payments),
    inputs: Number(counts[0]?.inputs),
    outputs: Number(counts[0]?.outputs),
    bytes: new Map(rows.map(({ name, bytes }) => [name, Number(bytes)])),
  };
}

function subtract(after: Growth, before: Growth): Growth {
  return {
    blocks: after.blocks - before.blocks,
    payments: after.payments - before.payments,
    inputs: after.inputs - before.inputs,
    outputs: after.outputs - before.outputs,
    bytes: new Map([...after.bytes].map(([name, bytes]) => [name, bytes - (before.bytes.get(name) ?? 0)])),
  };
}

interface Fit {
  perBlock: number;
  perPayment: number;
}

/** Fits bytes = perBlock * blocks + perPayment * payments by least squares. */
function fit(growths: readonly Growth[], bytesOf: (growth: Growth) => number): Fit {
  let bb = 0;
  let bp = 0;
  let pp = 0;
  let by = 0;
  let py = 0;
  for (const growth of growths) {
    const { blocks, payments } = growth;
    const bytes = bytesOf(growth);
    bb += blocks * blocks;
    bp += blocks * payments;
    pp += payments * payments;
    by += blocks * bytes;
    py += payments * bytes;
  }
  const determinant = bb * pp - bp * bp;
  return { perBlock: (by * pp - py * bp) / determinant, perPayment: (py * bb - by * bp) / determinant };
}

function report(how: string, growths: readonly Growth[]): void {
  const total = fit(growths, ({ bytes }) => sum(bytes.values()));
  console.log(`\n## ${how}\n\n| table or index | bytes a block | bytes a payment |\n|---|---|---|`);
  for (const name of growths[0]?.bytes.keys() ?? []) {
    const { perBlock, perPayment } = fit(growths, ({ bytes }) => bytes.get(name) ?? 0);
    if (Math.max(perBlock, perPayment) >= 1)
      console.log(`| ${name} | ${Math.round(perBlock)} | ${Math.round(perPayment)} |`);
  }
  console.log(`| **all** | **${Math.round(total.perBlock)}** | **${Math.round(total.perPayment)}** |\n`);
  for (const { blocks, payments, inputs, outputs, bytes } of growths) {
    const actual = sum(bytes.values());
    const off = (total.perBlock * blocks + total.perPayment * payments) / actual - 1;
    console.log(
      `${blocks} blocks, ${payments} payments, ${inputs} inputs, ${outputs} outputs: ` +
        `${megabytes(actual)} MB; the line is ${(100 * off).toFixed(1)} % off`,
    );
  }
  for (const rate of RATES) {
    const perDay = PER_DAY * (BLOCKS_PER_SECOND * total.perBlock + rate * total.perPayment);
    console.log(`${rate} payments a second: ${(perDay / 1e9).toFixed(1)} GB a day`);
  }
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
