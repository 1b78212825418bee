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
import { connect, type Connection } from '@kasgres/database';
import { decodeAddress, encodeAddress } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { freePort, startApi, startIndexer } from '../test/support/programs.ts';
import { CommitLatencies } from './commit-latencies.ts';
import { findNode } from './found-node.ts';
import { isSynced, measureTip } from './measure-tip.ts';
import { describeMachine, type Figure, mediansOf, percentile, readOptions, tableOfRuns } from './options.ts';
import { readCpuSeconds } from './process-cpu.ts';
import { readMemory } from './process-memory.ts';
import { createRunDatabase } from './run-database.ts';
import { startStreamClients } from './stream-clients.ts';
import { withTemporaryKey } from './temporary-key.ts';

const WARM_UP_MS = 3_000;
/** Above the number of connections that are opened at the same time. */
const CONCURRENCY = 200;
const SETTLE_MS = 5_000;
const MEBIBYTE = 2 ** 20;

interface Run {
  tipP50Ms: number;
  tipP99Ms: number;
  commitP50Ms: number;
  commitP99Ms: number;
  tipWithStreamsP50Ms: number;
  tipWithStreamsP99Ms: number;
  commitWithStreamsP50Ms: number;
  commitWithStreamsP99Ms: number;
  events: number;
  eventP50Ms: number;
  eventP99Ms: number;
  /** Processor time of a second: 1 is a whole core. Undefined on other systems than Linux. */
  apiCores: number | undefined;
  apiWithStreamsCores: number | undefined;
  clientCores: number | undefined;
  /** Processor time of the API, beyond that without streams. */
  apiMicrosecondsPerEvent: number | undefined;
  /** Memory of the API; undefined on other systems than Linux. */
  baseMib: number | undefined;
  idleMib: number | undefined;
}

const FIGURES: readonly Figure<Run>[] = [
  { name: 'notification to response, p50, ms', of: (run) => run.tipP50Ms, digits: 1 },
  { name: 'notification to response, p99, ms', of: (run) => run.tipP99Ms, digits: 1 },
  { name: 'with streams, p50, ms', of: (run) => run.tipWithStreamsP50Ms, digits: 1 },
  { name: 'with streams, p99, ms', of: (run) => run.tipWithStreamsP99Ms, digits: 1 },
  { name: 'notification to commit, p50, ms', of: (run) => run.commitP50Ms, digits: 1 },
  { name: 'notification to commit, p99, ms', of: (run) => run.commitP99Ms, digits: 1 },
  { name: 'with streams, p50, ms', of: (run) => run.commitWithStreamsP50Ms, digits: 1 },
  { name: 'with streams, p99, ms', of: (run) => run.commitWithStreamsP99Ms, digits: 1 },
  { name: 'events', of: (run) => run.events, digits: 0 },
  { name: 'notification to event, p50, ms', of: (run) => run.eventP50Ms, digits: 1 },
  { name: 'notification to event, p99, ms', of: (run) => run.eventP99Ms, digits: 1 },
  { name: 'API without streams, cores', of: (run) => run.apiCores, digits: 2 },
  { name: 'API with streams, cores', of: (run) => run.apiWithStreamsCores, digits: 2 },
  { name: 'clients, cores', of: (run) => run.clientCores, digits: 2 },
  { name: 'API per event, µs', of: (run) => run.apiMicrosecondsPerEvent, digits: 2 },
  { name: 'API before idle clients, MiB', of: (run) => run.baseMib, digits: 0 },
  { name: 'API with idle clients, MiB', of: (run) => run.idleMib, digits: 0 },
];

const { json, numbers } = readOptions({ runs: 3, seconds: 30, clients: 2000, idle: 10_000 });
const node = await findNode({
  DEVNET_PAST_BLOCKS: '1500',
  DEVNET_PAST_TRANSACTIONS: '20000',
  DEVNET_BLOCKS_PER_SECOND: '10',
  DEVNET_TRANSACTIONS_PER_SECOND: '200',
});
const runs: Run[] = [];
try {
  const target = await createRunDatabase();
  const database = connect({ url: target.url, applicationName: 'kasgres bench', max: 2 });
  try {
    await measureAll(database, target.url);
  } finally {
    await database.close();
    await target.end();
  }
} finally {
  await node.stop();
}
const machine = describeMachine();
if (json) console.log(JSON.stringify({ machine, ...numbers, medians: mediansOf(runs), runs }, null, 2));
else console.log(`${machine}; ${numbers.clients} clients, ${numbers.idle} idle ones\n\n${tableOfRuns(runs, FIGURES)}`);

async function measureAll(database: Connection, databaseUrl: string): Promise<void> {
  const programEnv = { nodeUrl: node.url, databaseUrl };
  const indexer = startIndexer(programEnv, { LOG_LEVEL: 'warn' });
  const streams = String(Math.max(numbers.clients, numbers.idle) + 1);
  const api = await startApi(programEnv, undefined, {
    LOG_LEVEL: 'warn',
    PORT: String(await freePort()),
    STREAM_CONNECTIONS: streams,
  });
  const client = new NodeClient({ url: node.url });
  try {
    while (!(await isSynced(api.url))) {
      node.requireRunning();
      if (!indexer.isRunning()) throw new Error(`the indexer stopped:\n${indexer.output()}`);
      await sleep(100);
    }
    await withTemporaryKey(database, CONCURRENCY, async (key) => {
      const { rows } = await database.pool.query<{ address: string }>(
        'select address from scripts where address is not null order by id limit 100',
      );
      const addresses = rows.map(({ address }) => address);
      await sleep(WARM_UP_MS);
      for (let run = 0; run < numbers.runs; run += 1)
        runs.push(
          await measure({ client, databaseUrl, api: api.url, processId: api.program.processId, key, addresses }),
        );
    });
  } finally {
    await client.close();
    await api.program.stop();
    await indexer.stop();
  }
}

interface Measured {
  client: NodeClient;
  databaseUrl: string;
  api: string;
  processId: number;
  key: string;
  addresses: readonly string[];
}

/** Measures responses and commits for the time of a run. */
async function measureBoth(
  { client, databaseUrl, api, key }: Measured,
  onSink: (hash: string) => void = () => undefined,
): Promise<{ responses: readonly number[]; commits: readonly number[] }> {
  const commits = await CommitLatencies.start(databaseUrl);
  const { times } = await measureTip({
    client,
    url: api,
    key,
    seconds: numbers.seconds,
    requireNode: node.requireRunning,
    onSink: (hash) => {
      commits.latencies.notified(hash, performance.now());
      onSink(hash);
    },
  });
  return { responses: times, commits: await commits.stop() };
}

async function measure(measured: Measured): Promise<Run> {
  const { api, processId, key, addresses } = measured;
  const [alone, apiCores] = await measureCores([processId], async () => await measureBoth(measured));
  const base = await readMemory(processId, 'VmRSS');

  const clients = await startStreamClients({
    api,
    key,
    count: numbers.clients,
    paths: addresses.map((address) => `/v1/stream?events=chain&address=${address}`),
  });
  await sleep(SETTLE_MS);
  const [beside, apiWithStreamsCores, clientCores] = await measureCores(
    [processId, clients.processId],
    async () => await measureBoth(measured, clients.notified),
  );
  await sleep(1000);
  const received = await clients.end();

  await sleep(SETTLE_MS);
  const idle = await startStreamClients({
    api,
    key,
    count: numbers.idle,
    paths: Array.from({ length: numbers.idle }, () => `/v1/stream?events=address&address=${unusedAddress(addresses)}`),
  });
  await sleep(SETTLE_MS);
  const withIdle = await readMemory(processId, 'VmRSS');
  await idle.end();
  await sleep(SETTLE_MS);
  const cores =
    apiCores === undefined || apiWithStreamsCores === undefined ? undefined : apiWithStreamsCores - apiCores;
  return {
    tipP50Ms: percentile(alone.responses, 0.5),
    tipP99Ms: percentile(alone.responses, 0.99),
    commitP50Ms: percentile(alone.commits, 0.5),
    commitP99Ms: percentile(alone.commits, 0.99),
    tipWithStreamsP50Ms: percentile(beside.responses, 0.5),
    tipWithStreamsP99Ms: percentile(beside.responses, 0.99),
    commitWithStreamsP50Ms: percentile(beside.commits, 0.5),
    commitWithStreamsP99Ms: percentile(beside.commits, 0.99),
    events: received.events,
    eventP50Ms: received.p50Ms,
    eventP99Ms: received.p99Ms,
    apiCores,
    apiWithStreamsCores,
    clientCores,
    apiMicrosecondsPerEvent: cores && (cores * numbers.seconds * 1e6) / received.events,
    baseMib: base && base / MEBIBYTE,
    idleMib: withIdle && withIdle / MEBIBYTE,
  };
}

/**
 * Returns what the work returns, and the processor time that each process used meanwhile, per
 * second.
 */
async function measureCores<T>(
  processIds: readonly number[],
  work: () => Promise<T>,
): Promise<[T, ...(number | undefined)[]]> {
  const read = async () => await Promise.all(processIds.map(readCpuSeconds));
  const before = await read();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await read();
  const cores = after.map((used, index) => {
    const first = before[index];
    return used === undefined || first === undefined ? undefined : (used - first) / seconds;
  });
  return [result, ...cores];
}

/** Its streams get nothing but heartbeats. */
function unusedAddress([known = '']: readonly string[]): string {
  const { prefix, version, payload } = decodeAddress(known);
  return encodeAddress({ prefix, version, payload: randomBytes(payload.length) });
}
