/**
 * `npm ci && npm start` from nothing, as README.md promises it: what it prints can be pasted, all
 * twelve endpoints respond, Ctrl-C leaves no process, and the next start continues from the same
 * chain with the same key, also after a crash.
 */
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ApiError, type Client, createClient } from '../support/client.ts';
import { ApiClient } from '../support/api-client.ts';
import { freePort, isFree } from '../support/programs.ts';
import { paste, ROOT, Started } from './started.ts';

/**
 * Each of the twelve specified endpoints must respond with plausible values. `addresses` have tags
 * on the simulated chain.
 */
async function requestTwelveEndpoints(api: Client, addresses: readonly [string, ...string[]]): Promise<void> {
  const [address] = addresses;
  const path = { address };
  expect(await api.get('/v1/rpc/getCurrentNetwork')).toEqual({ network: 'simnet' });

  const first = await api.post('/v1/rpc/getBlocks', { body: { includeBlocks: true, includeTransactions: true } });
  expect(first.blockHashes.length).toBeGreaterThan(100);
  expect(first.blocks.map(({ header }) => header.hash)).toEqual(first.blockHashes);
  expect(first.blocks.slice(1).every(({ transactions = [] }) => transactions.length > 0)).toBe(true);

  const chain = await api.post('/v1/rpc/getVirtualChainFromBlock', {
    body: { startHash: first.blockHashes[0] ?? '', includeAcceptedTransactionIds: true },
  });
  expect(chain.removedChainBlockHashes).toEqual([]);
  expect(chain.addedChainBlockHashes.length).toBeGreaterThan(500);
  expect(chain.acceptedTransactionIds.map(({ acceptingBlockHash }) => acceptingBlockHash)).toEqual(
    chain.addedChainBlockHashes,
  );

  const accepted = chain.acceptedTransactionIds.flatMap(({ acceptedTransactionIds }) => acceptedTransactionIds);
  const unknown = 'f'.repeat(64);
  const transactionIds = [...accepted.slice(0, 499), unknown];
  const { transactions } = await api.post('/v1/transactions/acceptance', { body: { transactionIds } });
  expect(transactions.map(({ transactionId }) => transactionId)).toEqual(transactionIds);
  expect(transactions.slice(0, -1).every(({ isAccepted, confirmations }) => isAccepted && confirmations > 0)).toBe(
    true,
  );
  expect(transactions.at(-1)).toEqual({
    transactionId: unknown,
    isAccepted: false,
    acceptingBlockHash: null,
    confirmations: 0,
  });

  const known = first.blocks.findLast(({ verboseData }) => verboseData.isChainBlock)?.header;
  const { timestamps } = await api.post('/v1/rpc/getDaaScoreTimestampEstimate', {
    body: { daaScores: [String(known?.daaScore), '99999999'] },
  });
  expect(timestamps).toHaveLength(2);
  expect(timestamps[0]).toBe(known?.timestamp);
  expect(Number(timestamps[1])).toBeGreaterThan(Date.now());

  const { balance } = await api.get('/v1/rpc/getBalanceByAddress/{address}', { params: { path } });
  const { maxSompi, circulatingSompi } = await api.get('/v1/rpc/getCoinSupply');
  expect(BigInt(balance)).toBeGreaterThan(0n);
  expect(BigInt(circulatingSompi)).toBeGreaterThan(BigInt(balance));
  expect(BigInt(maxSompi)).toBeGreaterThan(BigInt(circulatingSompi));

  expect((await api.get('/v1/addresses/{address}/tag', { params: { path } })).tag.address).toBe(address);

  const { networkHashesPerSecond } = await api.get('/v1/rpc/estimateNetworkHashesPerSecond', {
    params: { query: { windowSize: 1000 } },
  });
  expect(Number(networkHashesPerSecond)).toBeGreaterThan(0);

  const { block } = await api.post('/v1/rpc/getBlockTemplate', { body: { payAddress: address, extraData: 'test' } });
  expect(Number(block.header.blueScore)).toBeGreaterThan(2_000);
  expect(block.transactions).not.toEqual([]);

  await requestMempool(api, addresses);
}

/** Payments are sent and mined at random moments, so this polls until one is in the mempool. */
async function requestMempool(api: Client, addresses: readonly string[]): Promise<void> {
  const pools = { includeOrphanPool: true, filterTransactionPool: false };
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    const { entries } = await api.post('/v1/rpc/getMempoolEntriesByAddresses', {
      body: { addresses: [...addresses], ...pools },
    });
    const transactionId = entries.at(-1)?.transaction.verboseData?.transactionId;
    if (transactionId === undefined) continue;
    try {
      const one = await api.post('/v1/rpc/getMempoolEntry', { body: { transactionId, ...pools } });
      expect(one).toMatchObject({ mempoolEntry: { transaction: { verboseData: { transactionId } } } });
      return;
    } catch (error) {
      // It was mined between the two requests.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
  expect.fail('no payment to or from a tagged address was in the mempool within a minute');
}

const status = z.object({
  sink: z.string(),
  sinkBlueScore: z.coerce.number(),
  firstBlock: z.string(),
  synced: z.boolean(),
});

let dataDir: string;
let env: { DATA_DIR: string; PORT: string; [variable: string]: string };
let started: Started;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kasgres-start-'));
  env = { DATA_DIR: dataDir, PORT: String(await freePort()) };
});

afterAll(() => removeData());

/** The embedded Postgres of root has its data elsewhere. */
async function removeData(): Promise<void> {
  const cluster = await realpath(join(dataDir, 'postgres/cluster')).catch(() => undefined);
  for (const folder of [cluster, dataDir]) if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

function keyIn(output: string): string {
  return /kdp_[0-9a-f]{64}/.exec(output)?.[0] ?? expect.fail(`no key in:\n${output}`);
}

function apiOf(started: Started): ApiClient {
  return new ApiClient(`http://127.0.0.1:${env.PORT}`, keyIn(started.output));
}

/** The blue score of the sink, 0 while the API has none to tell, because the database is away. */
async function findBlueScore(): Promise<number> {
  const now = await apiOf(started)
    .read('/v1/status', status)
    .catch(() => undefined);
  return now?.sinkBlueScore ?? 0;
}

/** Kills a program and listens on its port before it is restarted. */
async function killAndTakePort(processId: number, port: number): Promise<Server> {
  const supervisor = started.processId('kasgres.js start');
  process.kill(supervisor, 'SIGSTOP');
  try {
    process.kill(processId, 'SIGKILL');
    while (!(await isFree(port))) await sleep(20);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  } finally {
    process.kill(supervisor, 'SIGCONT');
  }
}

function postmasterId(): number {
  return Number(readFileSync(join(dataDir, 'postgres/cluster/data/postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Returns the port of the node or of Postgres. */
function portOf(name: 'nodeUrl' | 'databaseUrl'): number {
  const runtime = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as Record<string, string>;
  return Number(new URL(runtime[name] ?? '').port);
}

describe('the first start, from nothing', () => {
  beforeAll(async () => {
    started = new Started({ env });
    await started.ready();
  }, 150_000);

  afterAll(() => started.end());

  test('prints the address and the key on plain lines, and keeps the key to its owner', async () => {
    const explorer = `http://127.0.0.1:${env.PORT}/`;
    expect(started.lines.find((line) => line.includes('http://'))).toBe(`Explorer: ${explorer}`);
    expect(await (await fetch(explorer)).text()).toContain('<div id="app">');
    expect(readFileSync(join(dataDir, 'demo-key'), 'utf8').trim()).toBe(keyIn(started.output));
    for (const file of ['demo-key', 'runtime.json']) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
  });

  test('prints three curl lines that work when pasted', async () => {
    const lines = started.lines.filter((line) => line.startsWith('curl '));
    expect(lines).toHaveLength(3);
    const responses = await Promise.all(lines.map(async (line) => JSON.parse(await paste(line, env)) as unknown));
    expect(responses).toEqual([
      { balance: expect.stringMatching(/^[1-9]\d*$/) as string },
      { tag: expect.objectContaining({ name: expect.any(String) as string }) as object },
      expect.objectContaining({ blockHashes: expect.arrayContaining([expect.any(String)]) as string[] }),
    ]);
  });

  test('it serves all twelve endpoints', { timeout: 90_000 }, async () => {
    const demo = z.object({ tags: z.tuple([z.object({ address: z.string() })], z.object({ address: z.string() })) });
    const { tags } = demo.parse(JSON.parse(readFileSync(join(dataDir, 'node', 'demo.json'), 'utf8')));
    const [first, ...others] = tags.map(({ address }) => address);
    const { url, key } = apiOf(started);
    await requestTwelveEndpoints(createClient({ baseUrl: url, apiKey: key }), [first ?? '', ...others]);
  });

  test('prints a line that opens SQL on the data', async () => {
    const line = started.lines.find((line) => line.endsWith('npx kasgres sql'));
    const printed = await paste(`echo 'select count(*) > 3000 as enough from blocks;' | ${line}`, env);
    expect(printed).toMatch(/enough[\s\S]*(t|true)\b/);
  });

  test('opens SQL where psql is not installed', async () => {
    const node = `PATH=${join(ROOT, 'node_modules/.bin')} node packages/cli/bin/kasgres.js sql`;
    expect(await paste(`echo 'select 1 as one; select 2 as two;' | ${node}`, env)).toMatch(/one\n-+\n +1\n[\s\S]*two/);
    expect(await paste(`${node} -c 'select network from meta'`, env)).toMatch(/network\n-+\nsimnet\n\(1 row\)/);
  });

  test('refuses to write in SQL', async () => {
    await expect(paste(`npx kasgres sql -c 'delete from blocks'`, env)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/permission denied|read-only transaction/) as string,
    });
  });

  test('lets pages of this machine call it, and no others', async () => {
    for (const [origin, isAllowed] of [
      ['http://localhost:5173', true],
      ['http://127.0.0.1:8080', true],
      ['https://example.org', false],
    ] as const) {
      const { headers } = await fetch(`http://127.0.0.1:${env.PORT}/v1/status`, { headers: { origin } });
      expect(headers.get('access-control-allow-origin'), origin).toBe(isAllowed ? origin : null);
    }
  });

  test('it is found by the other commands', async () => {
    expect(await paste('npx kasgres status', env)).toMatch(/network +simnet/);
    expect(await paste('npx kasgres migrate', env)).toBe('The schema is up to date.\n');
    expect(await paste('npx kasgres keys list', env)).toContain('demo');
    expect(await paste('npx kasgres keys usage demo', env)).toContain('RU');
  });

  test('it is verified completely, with the current UTXO set', { timeout: 90_000 }, async () => {
    const printed = await paste('npx kasgres verify', env);
    expect(printed).toContain(
      'holds  8: the current UTXO set is the one that the header of the last chain block commits to',
    );
    expect(printed).not.toContain('BROKEN');
  });

  test('it creates, uses and revokes a key at once', async () => {
    const key = await paste('npx kasgres keys create "a person" --rate 200', env);
    expect(key).toMatch(/^kdp_[0-9a-f]{64}\n$/);
    const ask = async (): Promise<Response> =>
      fetch(`http://127.0.0.1:${env.PORT}/v1/rpc/getCurrentNetwork`, { headers: { 'x-api-key': key.trim() } });
    expect((await ask()).status).toBe(200);
    await paste('npx kasgres keys revoke "a person"', env);
    await expect.poll(async () => (await ask()).status, { timeout: 10_000 }).toBe(401);
  });

  test('it refuses a second start on the same data or port', async () => {
    const again = new Started({ env: { ...env, PORT: String(await freePort()) } });
    await again.exited();
    expect(again.exitCode).toBe(1);
    expect(again.output).toContain(`Kasgres already runs on ${dataDir}`);

    const other = await mkdtemp(join(tmpdir(), 'kasgres-start-'));
    const samePort = new Started({ env: { ...env, DATA_DIR: other } });
    await samePort.exited();
    expect(samePort.exitCode).toBe(1);
    expect(samePort.output).toContain(`Port ${env.PORT} on 127.0.0.1 is in use by another program. Set PORT`);
    await rm(other, { recursive: true });
  });

  test('it leaves no process after Ctrl-C', async () => {
    started.pressCtrlC();
    await started.exited();
    expect(started.lines.at(-1)).toBe('Stopped.');
    expect(await started.processesLeft(1_000)).toEqual([]);
  });
});

/** Everything is restarted twice in it. */
const LONG = { timeout: 300_000 };

let key: string | undefined;
let firstBlock: string | undefined;
let blueScore: number;

/**
 * Starts again and checks that key and chain are those of before, and that the chain has only
 * grown.
 */
async function startAgain(): Promise<void> {
  started = new Started({ env });
  await started.ready();
  expect(keyIn(started.output)).toBe((key ??= keyIn(started.output)));
  const now = await apiOf(started).read('/v1/status', status);
  expect(now.firstBlock).toBe((firstBlock ??= now.firstBlock));
  expect(now.sinkBlueScore).toBeGreaterThanOrEqual(blueScore);
  blueScore = now.sinkBlueScore;
}

/** Waits until the API shows a later sink than before. */
async function hasGrown(): Promise<void> {
  const before = blueScore;
  await expect.poll(findBlueScore, { timeout: 60_000, interval: 200 }).toBeGreaterThan(before);
  blueScore = await findBlueScore();
}

describe('the second start on the same data', () => {
  beforeAll(() => {
    // Not there when this test runs alone: then its start makes it.
    const file = join(dataDir, 'demo-key');
    key = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
    firstBlock = undefined;
    blueScore = 2_900;
  });

  afterEach(() => started.end());

  test('it continues the same chain with the same key, and restarts killed programs', async () => {
    await startAgain();
    process.kill(started.processId('indexer/src/main.ts'), 'SIGKILL');
    await started.line(/^indexer exited \(SIGKILL\); restarting/);
    await hasGrown();

    process.kill(postmasterId(), 'SIGKILL');
    await started.line(/^postgres exited \(.*\); restarting/);
    await hasGrown();
  });
});

/** It is simulated and restored in a second. */
const SMALL_CHAIN = { DEVNET_PAST_BLOCKS: '300', DEVNET_PAST_TRANSACTIONS: '300' };

describe('further starts on the same data', () => {
  beforeAll(async () => {
    await removeData();
    dataDir = await mkdtemp(join(tmpdir(), 'kasgres-start-'));
    env = { ...SMALL_CHAIN, DATA_DIR: dataDir, PORT: env.PORT };
    [key, firstBlock, blueScore] = [undefined, undefined, 250];
    // The tests below start again on this data.
    await startAgain();
    await started.end();
  }, 150_000);

  afterEach(() => started.end());

  test('it continues on another port if another program takes that of the node or of Postgres', LONG, async () => {
    await startAgain();
    const before = { nodeUrl: portOf('nodeUrl'), databaseUrl: portOf('databaseUrl') };
    const takers = [
      await killAndTakePort(started.processId('devnet/src/main.ts'), before.nodeUrl),
      await killAndTakePort(postmasterId(), before.databaseUrl),
    ];
    await started.line(/^Another program has taken the port of the simulated node/);
    await started.line(/^Another program has taken the port of Postgres/);
    await hasGrown();
    for (const name of ['nodeUrl', 'databaseUrl'] as const) expect(portOf(name)).not.toBe(before[name]);
    expect(await paste('npx kasgres status', env)).toMatch(/network +simnet/);
    for (const taker of takers) taker.close();
  });

  test('it ends with an error that names PORT if another program takes that', async () => {
    await startAgain();
    const taker = await killAndTakePort(started.processId('api/src/main.ts'), Number(env.PORT));
    await started.exited();
    taker.close();
    expect(started.exitCode).toBe(1);
    expect(started.output).toContain(
      `Port ${env.PORT} on 127.0.0.1 is in use by another program. Set PORT to a free one`,
    );
  });

  test('it leaves no process after kill -9 of the start, and the next start continues', async () => {
    await startAgain();
    process.kill(started.processId('kasgres.js start'), 'SIGKILL');
    expect(await started.processesLeft()).toEqual([]);
    await startAgain();
  });

  test('it stops an orphaned Postgres at the next start, and continues', async () => {
    await startAgain();
    started.killAllButPostgres();
    const killed = started;
    await startAgain();
    expect(await killed.processesLeft(0)).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGHUP', 'SIGKILL'] as const)('%s to npm alone ends everything', async (signal) => {
    await startAgain();
    process.kill(started.npmProcessId, signal);
    expect(await started.processesLeft()).toEqual([]);
    // The last of the output may be read after the processes are gone.
    await expect.poll(() => started.output).toContain('Stopped.');
  });

  test('it stops at once on a second Ctrl-C', async () => {
    await startAgain();
    const programs = ['indexer/src/main.ts', 'api/src/main.ts', 'devnet/src/main.ts'].map((part) =>
      started.processId(part),
    );
    // Stopped programs cannot end by themselves.
    for (const id of programs) process.kill(id, 'SIGSTOP');
    started.pressCtrlC();
    await started.line(/^Stopping/);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    started.pressCtrlC();
    expect(await started.processesLeft(5_000)).toEqual([]);
  });
});
