/**
 * The cost of streams: the time from the node's notification of a sink to its event at each of many
 * clients, the tip with and without them, and the memory of clients that receive nothing but
 * heartbeats.
 *
 *   npm run bench:streams [-- --json] [--runs 3] [--seconds 30] [--clients 2000] [--idle 10000]
 *
 * It starts a simulated node of 10 blocks and 200 transactions a second, or uses NODE_URL, and
 * indexes it in an empty database: on an embedded Postgres, or with DATABASE_URL beside the
 * database that it names. The clients share the cores with everything else.
 */
import { randomBytes } from 'node:crypto';
import { listenTo } from '@kasgres/database';
import { decodeAddress, encodeAddress } from '@kasgres/kaspa';
import { sleep } from '@kasgres/runtime';
import { Client } from 'pg';
import { findNode, type FoundNode } from './found-node.ts';
import { measureTip } from './measure-tip.ts';
import { percentile, printRuns, readOptions, type RunOf } from './options.ts';
import { readMemory } from './process-usage.ts';
import { openRunDatabase } from './run-database.ts';
import { SinkLatencies } from './sink-latencies.ts';
import { type AtTip, startAtTip } from './started-programs.ts';
import { startStreamClients } from './stream-clients.ts';

/** Above the number of connections that are opened at the same time. */
const CONCURRENCY = 200;
const SETTLE_MS = 5_000;
const MEBIBYTE = 2 ** 20;
const SELECT_SINK = `select encode(b.hash, 'hex') as sink from checkpoint c join blocks b on b.id = c.block_id`;

const FIGURES = {
  tipP50Ms: ['notification to response, p50, ms', 1],
  tipP99Ms: ['notification to response, p99, ms', 1],
  tipWithStreamsP50Ms: ['with streams, p50, ms', 1],
  tipWithStreamsP99Ms: ['with streams, p99, ms', 1],
  commitP50Ms: ['notification to commit, p50, ms', 1],
  commitP99Ms: ['notification to commit, p99, ms', 1],
  commitWithStreamsP50Ms: ['with streams, p50, ms', 1],
  commitWithStreamsP99Ms: ['with streams, p99, ms', 1],
  events: ['events', 0],
  eventP50Ms: ['notification to event, p50, ms', 1],
  eventP99Ms: ['notification to event, p99, ms', 1],
  // Undefined on other systems than Linux.
  baseMib: ['API before idle clients, MiB', 0],
  idleMib: ['API with idle clients, MiB', 0],
} as const;
type Run = RunOf<typeof FIGURES>;

const {
  json,
  runs: runCount,
  seconds,
  clients,
  idle,
} = readOptions({ runs: 3, seconds: 30, clients: 2000, idle: 10_000 });
await using ends = new AsyncDisposableStack();
const node = await findNode(ends, {
  DEVNET_PAST_BLOCKS: '1500',
  DEVNET_PAST_TRANSACTIONS: '20000',
  DEVNET_BLOCKS_PER_SECOND: '10',
  DEVNET_TRANSACTIONS_PER_SECOND: '200',
});
printRuns(json, { seconds, clients, idle }, await measureRuns(node), FIGURES);

async function measureRuns(node: FoundNode): Promise<Run[]> {
  await using ends = new AsyncDisposableStack();
  const database = await openRunDatabase(ends);
  const variables = { STREAM_CONNECTIONS: String(Math.max(clients, idle) + 1) };
  const atTip = await startAtTip(ends, node, database, { concurrency: CONCURRENCY, variables });
  const { rows } = await database.pool.query<{ address: string }>(
    'select address from scripts where address is not null order by id limit 100',
  );
  const addresses = rows.map(({ address }) => address);
  const runs: Run[] = [];
  while (runs.length < runCount) runs.push(await measure(atTip, addresses));
  return runs;
}

async function measure(atTip: AtTip, addresses: readonly string[]): Promise<Run> {
  const { url: api, program } = atTip.api;
  const { key } = atTip;
  const alone = await measureBoth(atTip);
  const base = await readMemory(program.processId, 'VmRSS');

  const paths = addresses.map((address) => `/v1/stream?events=chain&address=${address}`);
  const busy = await startStreamClients({ api, key, count: clients, paths });
  await sleep(SETTLE_MS);
  const beside = await measureBoth(atTip, busy.notified);
  await sleep(1000);
  const received = await busy.end();

  await sleep(SETTLE_MS);
  const unusedPaths = Array.from(
    { length: idle },
    () => `/v1/stream?events=address&address=${unusedAddress(addresses)}`,
  );
  const unused = await startStreamClients({ api, key, count: idle, paths: unusedPaths });
  await sleep(SETTLE_MS);
  const withIdle = await readMemory(program.processId, 'VmRSS');
  await unused.end();
  await sleep(SETTLE_MS);
  return {
    tipP50Ms: percentile(alone.responses, 0.5),
    tipP99Ms: percentile(alone.responses, 0.99),
    tipWithStreamsP50Ms: percentile(beside.responses, 0.5),
    tipWithStreamsP99Ms: percentile(beside.responses, 0.99),
    commitP50Ms: percentile(alone.commits, 0.5),
    commitP99Ms: percentile(alone.commits, 0.99),
    commitWithStreamsP50Ms: percentile(beside.commits, 0.5),
    commitWithStreamsP99Ms: percentile(beside.commits, 0.99),
    events: received.events,
    eventP50Ms: received.p50Ms,
    eventP99Ms: received.p99Ms,
    baseMib: base && base / MEBIBYTE,
    idleMib: withIdle && withIdle / MEBIBYTE,
  };
}

/** Measures responses and commits for the time of a run. */
async function measureBoth(
  atTip: AtTip,
  onSink: (hash: string) => void = () => undefined,
): Promise<{ responses: readonly number[]; commits: readonly number[] }> {
  await using ends = new AsyncDisposableStack();
  const commits = await followCommits(ends, atTip.database.url);
  const { times } = await measureTip(atTip, seconds, (hash) => {
    commits.notified(hash, performance.now());
    onSink(hash);
  });
  return { responses: times, commits: commits.times };
}

/** Records when the indexer commits sinks, until the end. */
async function followCommits(ends: AsyncDisposableStack, databaseUrl: string): Promise<SinkLatencies> {
  const latencies = new SinkLatencies();
  // Commits may follow each other faster than the sink is read.
  const client = new Client({ connectionString: databaseUrl, application_name: 'kasgres bench', pipeline: true });
  ends.defer(() => client.end());
  await client.connect();
  client.on('notification', () => {
    const at = performance.now();
    void client
      .query<{ sink: string }>(SELECT_SINK)
      .then(({ rows }) => rows[0] && latencies.shown(rows[0].sink, at))
      .catch(() => undefined);
  });
  await listenTo(client, 'commits');
  return latencies;
}

/** Its streams get nothing but heartbeats. */
function unusedAddress([known = '']: readonly string[]): string {
  const { prefix, version, payload } = decodeAddress(known);
  return encodeAddress({ prefix, version, payload: randomBytes(payload.length) });
}
