/**
 * The cost of blocks of a hostile miner for the indexer, in processor time of its process and of
 * its connections to Postgres, relative to honest blocks of equal mass; and whether the tip,
 * memory, responses, `verify` and a restart hold.
 *
 *   npm run bench:hostile [-- --json] [--blocks 100] [--honest 30] [--maturity 100] [--seconds 60]
 *
 * Without NODE_URL it starts a simulated node. NODE_URL names a simnet node at genesis whose
 * coinbases mature after --maturity scores. The database is on an embedded Postgres, or with
 * DATABASE_URL beside the one that it names. The process exits with 1 if a limit is exceeded.
 */
import type { Connection } from '@kasgres/database';
import { type DagTransaction, HOSTILE_KINDS, type HostileKind, type HostileSize } from '@kasgres/devnet';
import { DEFAULT_MEMORY_LIMIT_MB } from '@kasgres/indexer';
import { normalizedMass, transientMass } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { checkAcceptance, checkInvariant4, checkInvariant7, checkInvariant8 } from '@kasgres/verification';
import { HonestPayments } from '../test/node/load/honest-payments.ts';
import { HostileMiner } from '../test/node/load/hostile-miner.ts';
import { type Program, startIndexer } from '../test/support/programs.ts';
import { untilAtRest } from '../test/support/until-at-rest.ts';
import { findNode } from './found-node.ts';
import { measureTip } from './measure-tip.ts';
import { describeMachine, markdownTable, percentile, readOptions, secondsSince } from './options.ts';
import { readCpuSeconds, readMemory } from './process-usage.ts';
import { createTemporaryKey, openRunDatabase } from './run-database.ts';
import { startQuietApi } from './started-programs.ts';

/**
 * The sizes of a block: the sum of the masses of its transactions is near the limit of each kind.
 */
const SIZES: Record<HostileKind, HostileSize> = {
  phantoms: { transactions: 300, inputs: 2, blocks: 1 },
  sums: { transactions: 40, inputs: 1, blocks: 1 },
  late: { transactions: 4, inputs: 1_000, blocks: 40 },
  variants: { transactions: 1_600, inputs: 1, blocks: 10 },
  copies: { transactions: 300, inputs: 1, blocks: 10 },
  conflicts: { transactions: 300, inputs: 1, blocks: 10 },
  claims: { transactions: 4, inputs: 1_000, blocks: 10 },
  forbidden: { transactions: 1, inputs: 1, blocks: 1 },
  chains: { transactions: 1, inputs: 1, blocks: 20 },
  programs: { transactions: 1, inputs: 1, blocks: 4 },
  reveals: { transactions: 1, inputs: 6, blocks: 10 },
  families: { transactions: 1, inputs: 6, blocks: 10 },
  bindings: { transactions: 300, inputs: 1, blocks: 10 },
  births: { transactions: 1, inputs: 1, blocks: 10 },
  payloads: { transactions: 10, inputs: 1, blocks: 10 },
  lanes: { transactions: 300, inputs: 1, blocks: 10 },
};
const MAX_COST_RATIO = 3;
/** Processor time is counted in steps of 10 ms, so fewer honest blocks are no measure of others. */
const LEAST_HONEST_CPU_MS = 500;
const BLOCK_MASS = 500_000n;
const MAX_TIP_P99_MS = 1_000;
const MAX_RESPONSE_BYTES = 2 ** 20;
const PAUSE_BETWEEN_TIP_BLOCKS_MS = 200;
const HOSTILE_TIP_BLOCKS = 5;

interface Cost {
  name: string;
  blocks: number;
  /** The mass of a block as a share of the greatest. */
  massShare: number;
  cpuMsPerBlock: number;
  /**
   * To honest blocks of equal mass: empty ones, and the share of full ones that the mass takes.
   * Undefined if too few of these were measured.
   */
  ratio: number | undefined;
}

const options = readOptions({ blocks: 100, honest: 30, maturity: 100, seconds: 60 });
const problems: string[] = [];
const costs: Cost[] = [];
await using ends = new AsyncDisposableStack();
const node = await findNode(ends, {
  DEVNET_PAST_BLOCKS: '1',
  DEVNET_PAST_TRANSACTIONS: '0',
  DEVNET_BLOCKS_PER_SECOND: '0',
  DEVNET_TRANSACTIONS_PER_SECOND: '0',
  DEVNET_COINBASE_MATURITY: String(options.maturity),
});
const client = ends.adopt(new NodeClient({ url: node.url }), (open) => open.close());
const database = await openRunDatabase(ends);
const programEnv = { nodeUrl: node.url, databaseUrl: database.url };
let indexer = startIndexer(programEnv, { LOG_LEVEL: 'warn' });
ends.defer(() => indexer.stop());
let tipP99Ms = Number.NaN;
let peakBytes = 0;
await run();
report();

async function run(): Promise<void> {
  const miner = await HostileMiner.begin(client, { seed: 'bench', coinbaseMaturity: options.maturity });
  await miner.mineEmpty(options.maturity + 80 * options.honest);
  await miner.follow();
  const honest = new HonestPayments(miner);
  await untilIndexed();

  const mineHonest = async (): Promise<readonly DagTransaction[]> => {
    const content = honest.block();
    await miner.mine([content]);
    await miner.follow();
    return content;
  };
  // The first blocks of an index also cost what analysing small tables takes.
  for (let mined = 0; mined < options.honest; mined += 1) await mineHonest();
  await untilIndexed();
  const empty = await measure('empty', options.honest, async () => {
    await miner.mine([[]]);
    return [];
  });
  const full = await measure('honest', options.honest, mineHonest);
  for (const kind of HOSTILE_KINDS) {
    let plan: ReturnType<typeof miner.plan> = [];
    let at = 0;
    await measure(
      kind,
      options.blocks,
      async () => {
        if (at >= plan.length) [plan, at] = [miner.plan(kind, SIZES[kind]), 0];
        const content = plan[at] ?? [];
        at += 1;
        await miner.mine([content]);
        return content;
      },
      { empty, full },
    );
    await miner.follow();
  }
  // Everything at once, mixed, after the indexer was away.
  await stopIndexer();
  const before = miner.blocks.length;
  await miner.mineMixed(options.blocks, () => ({ transactions: 20, inputs: 100, blocks: 2 }));
  const startedAt = performance.now();
  indexer = startIndexer(programEnv, { LOG_LEVEL: 'warn' });
  await untilIndexed();
  const seconds = secondsSince(startedAt);
  console.error(`caught up with ${miner.blocks.length - before} saved and mixed blocks in ${seconds.toFixed(1)} s`);
  await measureAtTip(miner);
  peakBytes = Math.max(peakBytes, (await readMemory(indexer.processId, 'VmHWM')) ?? 0);
  const limit = Number(process.env['MEMORY_LIMIT_MB'] ?? DEFAULT_MEMORY_LIMIT_MB) * 1e6;
  if (peakBytes > limit) problems.push(`the indexer took ${Math.round(peakBytes / 1e6)} MB of ${limit / 1e6}`);
  await checkIndex();
}

/** @param mine mines one block beside an empty one, and returns its payments */
async function measure(
  name: string,
  blocks: number,
  mine: () => Promise<readonly DagTransaction[]>,
  honest?: { empty: Cost; full: Cost },
): Promise<Cost> {
  const before = await readCost(database, indexer);
  let mass = 0n;
  for (let made = 0; made < blocks; made += 1) {
    for (const transaction of await mine()) mass += massOf(transaction);
  }
  await untilIndexed();
  const cpuSeconds = (await readCost(database, indexer)) - before;
  const cost: Cost = {
    name,
    blocks,
    massShare: Number(mass) / Number(BLOCK_MASS) / blocks,
    cpuMsPerBlock: (1_000 * cpuSeconds) / blocks,
    ratio: undefined,
  };
  if (honest !== undefined && honest.full.cpuMsPerBlock * honest.full.blocks >= LEAST_HONEST_CPU_MS) {
    const { empty, full } = honest;
    const ofFull = (full.cpuMsPerBlock - empty.cpuMsPerBlock) / full.massShare;
    cost.ratio = cost.cpuMsPerBlock / (empty.cpuMsPerBlock + ofFull * cost.massShare);
  }
  costs.push(cost);
  console.error(
    `${name}: ${cost.cpuMsPerBlock.toFixed(1)} ms of CPU for a block, ${cost.ratio?.toFixed(2) ?? '-'} x honest`,
  );
  if (cost.ratio !== undefined && cost.ratio > MAX_COST_RATIO) {
    problems.push(`a block of ${name} costs ${cost.ratio.toFixed(1)} times an honest one of equal mass`);
  }
  return cost;
}

function massOf(transaction: DagTransaction): bigint {
  return normalizedMass(transaction.computeMass, transaction.storageMass, transientMass(transaction));
}

/** Returns the processor seconds of the indexer and of its connections to Postgres. */
async function readCost({ pool }: Connection, { processId }: Program): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name like '%indexer%'`,
  );
  const seconds = await Promise.all([processId, ...rows.map(({ pid }) => pid)].map(readCpuSeconds));
  return seconds.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

async function untilIndexed(): Promise<void> {
  await untilAtRest(database.pool, client, indexer, Number.POSITIVE_INFINITY);
}

async function stopIndexer(): Promise<void> {
  peakBytes = Math.max(peakBytes, (await readMemory(indexer.processId, 'VmHWM')) ?? 0);
  await indexer.stop();
}

/**
 * Mines a block every 200 ms, of which each fifth is hostile and full, and measures when responses
 * show them.
 */
async function measureAtTip(miner: HostileMiner): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const api = await startQuietApi(ends, programEnv);
  const key = await createTemporaryKey(ends, database, 8);
  const end = new AbortController();
  const saved = HOSTILE_KINDS.flatMap((kind) => miner.plan(kind, SIZES[kind]));
  const mining = (async () => {
    for (let made = 1; !end.signal.aborted; made += 1) {
      const content = made % HOSTILE_TIP_BLOCKS === 0 ? saved[made % saved.length] : undefined;
      if (content === undefined) await miner.mineEmpty(1);
      else await miner.mine([content]);
      await sleep(PAUSE_BETWEEN_TIP_BLOCKS_MS);
    }
  })();
  try {
    const { times } = await measureTip({ client, api, key, requireNode: node.requireRunning }, options.seconds);
    tipP99Ms = percentile(times, 0.99);
    if (tipP99Ms > MAX_TIP_P99_MS) problems.push(`the tip's p99 is ${Math.round(tipP99Ms)} ms`);
  } catch (error) {
    problems.push(`the tip: ${error instanceof Error ? error.message : String(error)}`);
  }
  end.abort();
  await mining;
  // A node leaves a disqualified tip with the most work out of its virtual block.
  await miner.mineEmpty(1);
  await untilIndexed();
  await checkResponses(miner, api.url, key);
}

async function checkResponses(miner: HostileMiner, url: string, key: string): Promise<void> {
  const step = Math.max(1, Math.floor(miner.blocks.length / 200));
  const paths = miner.blocks.filter((_, index) => index % step === 0).map((hash) => `/v1/blocks/${hash}`);
  for (const path of [...paths, ...paths.map((block) => `${block}/transactions`)]) {
    const startedAt = performance.now();
    const response = await fetch(`${url}${path}`, { headers: { 'x-api-key': key } });
    const bytes = (await response.arrayBuffer()).byteLength;
    const ms = performance.now() - startedAt;
    if (response.status !== 200) problems.push(`${path} responds ${response.status}`);
    if (bytes > MAX_RESPONSE_BYTES) problems.push(`${path} has ${bytes} bytes`);
    if (ms > MAX_TIP_P99_MS) problems.push(`${path} took ${Math.round(ms)} ms`);
  }
}

async function checkIndex(): Promise<void> {
  await untilIndexed();
  await stopIndexer();
  indexer = startIndexer(programEnv, { LOG_LEVEL: 'warn' });
  await untilIndexed();
  for (const check of [checkAcceptance, checkInvariant4, checkInvariant7, checkInvariant8]) {
    problems.push(...(await check(database.pool)));
  }
}

function report(): void {
  if (options.json) {
    console.log(JSON.stringify({ machine: describeMachine(), costs, tipP99Ms, peakBytes, problems }));
  } else {
    const rows = costs.map(({ name, blocks, massShare, cpuMsPerBlock, ratio }) => [
      name,
      blocks,
      massShare.toFixed(2),
      cpuMsPerBlock.toFixed(1),
      ratio?.toFixed(2) ?? '',
    ]);
    const head = ['blocks of', 'number', 'share of a full block', 'CPU per block, ms', 'ratio at equal mass'];
    console.log(`${describeMachine()}\n\n${markdownTable(head, rows)}\n`);
    console.log(`tip p99 ${tipP99Ms.toFixed(0)} ms, peak of the indexer ${Math.round(peakBytes / 1e6)} MB`);
    console.log(problems.length === 0 ? 'no problems' : problems.join('\n'));
  }
  process.exitCode = problems.length === 0 ? 0 : 1;
}
