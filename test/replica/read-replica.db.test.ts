/**
 * The API on a real streaming standby, while the indexer writes to its primary: one state per
 * response, lag, failures and promotion.
 */
import { type Connection, connect, migrate } from '@kasgres/database';
import { type ReplicatedPostgres, startReplicatedPostgres } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOneState, sinkOf } from '../api/one-state.ts';
import { openHarness, type Harness } from '../api/harness.ts';

const SOON = { timeout: 60_000 };
const SUPPLY = '/v1/rpc/getCoinSupply';

let postgres: ReplicatedPostgres;
let standby: Connection;
let harness: Harness;
let genesis: string;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  standby = connect({ url: postgres.standbyUrl, applicationName: 'kasgres test' });
  await migrate(postgres.primaryUrl);
  const primary = connect({ url: postgres.primaryUrl, applicationName: 'kasgres test' });
  harness = await openHarness({
    rounds: 60,
    database: { ...primary, url: postgres.primaryUrl, drop: primary.close },
    variables: { DATABASE_READ_URL: postgres.standbyUrl },
  });
  genesis = (await harness.node.call('getBlockDagInfo', {})).pruningPointHash;
});
afterAll(async () => {
  await harness?.close();
  await standby?.close();
  await postgres?.stop();
});

const status = async () => (await harness.api.request('/v1/status')).json;

/** Waits until responses have the node's sink. */
async function expectCurrent(): Promise<void> {
  await harness.atRest();
  const { sink } = await harness.node.call('getSink', {});
  await expect.poll(status, SOON).toMatchObject({ sink, synced: true, lagSeconds: 0, replicaLagSeconds: 0 });
}

async function replicaLagMetric(): Promise<number> {
  const text = await (await fetch(await harness.program.metricsUrl())).text();
  return Number(/^kasgres_api_replica_lag_seconds\{.*\} (.+)$/m.exec(text)?.[1]);
}

test('invariant 9 on a replica: every response agrees with the sink that it names, while the indexer writes', async () => {
  await expectCurrent();
  const sinks = new Set<string | null>();
  const etags = new Set<string | null>();
  while (sinks.size < 10) {
    // Batches are applied and replayed during the requests below.
    harness.simulatedDag.mine(4);
    sinks.add(await readOneState(harness.api, genesis));
    etags.add((await harness.api.request(SUPPLY)).headers.get('etag'));
  }
  expect(etags.size).toBeGreaterThan(1);
  await expectCurrent();
});

test('the API on a replica reads keys and writes usage on the primary', async () => {
  expect((await harness.api.request(SUPPLY, { headers: { 'x-api-key': `kdp_${'0'.repeat(64)}` } })).status).toBe(401);
  const countUsage = async () => (await harness.database.pool.query('select from api_key_usage')).rowCount;
  await expect.poll(countUsage, SOON).toBe(1);
});

test('a replica that lags reports its lag, and each response has one state', async () => {
  const before = await harness.api.request(SUPPLY);
  await standby.pool.query('select pg_wal_replay_pause()');
  const countPaused = async () =>
    (await standby.pool.query(`select where pg_get_wal_replay_pause_state() = 'paused'`)).rowCount;
  await expect.poll(countPaused, SOON).toBe(1);
  harness.simulatedDag.mine(8);
  await harness.atRest();
  await expect.poll(async () => (await status())['replicaLagSeconds'], SOON).toBeGreaterThanOrEqual(1);
  // The node's status is cached for a second.
  await expect.poll(status, SOON).toMatchObject({ sink: sinkOf(before), synced: false });
  await expect.poll(replicaLagMetric, SOON).toBeGreaterThan(1);
  expect(await readOneState(harness.api, genesis)).toBe(sinkOf(before));
  const etag = before.headers.get('etag') ?? '';
  expect((await harness.api.request(SUPPLY, { headers: { 'if-none-match': etag } })).status).toBe(304);

  await standby.pool.query('select pg_wal_replay_resume()');
  await expectCurrent();
  await expect.poll(replicaLagMetric, SOON).toBe(0);
  // Responses without a read may have a state of 20 ms ago.
  const sinkAfter = async () => sinkOf(await harness.api.request(SUPPLY, { headers: { 'if-none-match': etag } }));
  await expect.poll(sinkAfter, SOON).not.toBe(sinkOf(before));
  expect((await harness.api.request(SUPPLY, { headers: { 'if-none-match': etag } })).status).toBe(200);
});

test('a replica whose primary writes nothing has no lag', async () => {
  await expect.poll(lastCommitAge, SOON).toBeGreaterThan(2);
  await expect.poll(status, SOON).toMatchObject({ synced: true, replicaLagSeconds: 0 });
});

async function lastCommitAge(): Promise<number | undefined> {
  const { rows } = await standby.pool.query<{ seconds: number }>(
    'select extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as seconds',
  );
  return rows[0]?.seconds;
}

test('a read that the replica cancels is repeated without the client noticing', async () => {
  const [blocker, other] = [await harness.database.pool.connect(), await harness.database.pool.connect()];
  await letReplayWait('50ms');
  try {
    await blocker.query('begin');
    await blocker.query('lock table transactions in access exclusive mode');
    const isLocked = `select from pg_locks
      where relation = 'transactions'::regclass and granted and mode = 'AccessExclusiveLock'`;
    await expect.poll(async () => (await standby.pool.query(isLocked)).rowCount, SOON).toBe(1);
    // The read has the blocks of its state, and waits for their transactions.
    const response = harness.api.request('/v1/rpc/getBlocks', {
      body: { includeBlocks: true, includeTransactions: true },
    });
    const waitsWithBlocks = `select from pg_locks waiting join pg_locks held using (pid)
      where waiting.relation = 'transactions'::regclass and not waiting.granted
        and held.relation = 'blocks'::regclass and held.granted`;
    await expect.poll(async () => (await standby.pool.query(waitsWithBlocks)).rowCount, SOON).toBeGreaterThan(0);
    // The standby takes this lock, too, and cancels holders of weaker ones.
    await other.query('begin; lock table blocks in access exclusive mode; commit');
    const { rows } = await other.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn');
    const isReplayed = async () =>
      (await standby.pool.query('select where pg_last_wal_replay_lsn() >= $1', [rows[0]?.lsn])).rowCount;
    await expect.poll(isReplayed, SOON).toBe(1);
    await blocker.query('commit');
    expect((await response).status).toBe(200);
  } finally {
    blocker.release(true);
    other.release(true);
    await letReplayWait('30s');
  }
});

/** The standby cancels reads that block its replay for this long. */
async function letReplayWait(limit: string): Promise<void> {
  await standby.pool.query(`alter system set max_standby_streaming_delay = '${limit}'`);
  await standby.pool.query('select pg_reload_conf()');
}

// After the test of cancelled reads: the follower of streams reads on for ten seconds, and would be
// cancelled, too.
test('a stream follows the replica: an event is visible in other responses when it arrives, and none comes before replay', async () => {
  await expectCurrent();
  const end = new AbortController();
  const cursors: string[] = [];
  const invisible: string[] = [];
  const following = (async () => {
    for await (const { cursor, events } of harness.api.subscribe({ events: ['chain'], signal: end.signal })) {
      if (cursor === undefined || events.every(({ event }) => event !== 'chain')) continue;
      cursors.push(cursor);
      const { json } = await harness.api.request('/v1/rpc/getVirtualChainFromBlock', {
        body: { startHash: cursor, includeAcceptedTransactionIds: false },
      });
      if (json['addedChainBlockHashes'] === undefined) invisible.push(cursor);
    }
  })();
  for (let round = 0; round < 10; round += 1) {
    harness.simulatedDag.mine(2);
    await harness.atRest();
  }
  const { sink } = await harness.node.call('getSink', {});
  await expect.poll(() => cursors.at(-1), SOON).toBe(sink);
  await standby.pool.query('select pg_wal_replay_pause()');
  harness.simulatedDag.mine(4);
  await harness.atRest();
  const later = (await harness.node.call('getSink', {})).sink;
  expect(cursors).not.toContain(later);
  await standby.pool.query('select pg_wal_replay_resume()');
  await expect.poll(() => cursors.at(-1), SOON).toBe(later);
  expect(invisible).toEqual([]);
  end.abort();
  await following;
});

test('an unavailable replica causes 503 until it is back, without a restart of the API', async () => {
  await postgres.stopStandby({ immediate: true });
  // A state that was read before the connections were lost may be served for a moment.
  await expect.poll(async () => (await harness.api.request(SUPPLY)).status, SOON).toBe(503);
  const away = await harness.api.request(SUPPLY);
  expect({ status: away.status, json: away.json }).toEqual({
    status: 503,
    json: { statusCode: 503, message: 'The database is out of reach' },
  });
  expect(away.headers.get('retry-after')).not.toBeNull();
  expect(await replicaLagMetric()).toBeNaN();
  harness.simulatedDag.mine(4);
  await harness.atRest();

  await postgres.restartStandby();
  await expectCurrent();
  expect((await harness.api.request(SUPPLY)).status).toBe(200);
});

test('a promoted replica still responds, and reports that the chain grows without it', async () => {
  await standby.pool.query('select pg_promote()');
  // After many reads of the status, one from before the promotion may be served.
  await expect.poll(status, SOON).toMatchObject({ synced: true, replicaLagSeconds: null });
  const { sink } = await status();
  harness.simulatedDag.mine(4);
  await harness.atRest();
  await expect.poll(status, SOON).toMatchObject({ sink, synced: false, replicaLagSeconds: null });
  expect(await readOneState(harness.api, genesis)).toBe(sink);
});
