/**
 * Reads a second of the API with 64 connections, each as a ratio to a bare Fastify with one prepared look-up (bare-server.ts) in the same run:
 *
 *   DATABASE_URL=postgres://… npm run bench:read [-- --json] [--runs 3] [--seconds 5] [text in the name of a read]
 *
 * DATABASE_URL names an index, such as one that `bench:sync` filled; without it, an embedded Postgres is filled with a million transactions
 * (test/plans/large-index.ts). Server, Postgres and this client share the cores. bench/README.md has figures.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { connect, type Connection, createKey, migrate, startTemporaryPostgres } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { fillLargeIndex } from '../test/plans/large-index.ts';
import { freePort } from '../test/support/programs.ts';

const CONNECTIONS = 64;
const WARM_UP_MS = 1000;
const SAMPLES = 2000;

interface Read {
  method?: 'POST';
  path: string;
  body?: object;
}

interface Measurement {
  perSecond: number;
  p50: number;
  p99: number;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
  },
});
const only = positionals[0] ?? '';

const embedded = process.env['DATABASE_URL'] === undefined ? await startTemporaryPostgres() : undefined;
const databaseUrl = process.env['DATABASE_URL'] ?? embedded?.url ?? '';
const children: ChildProcess[] = [];
try {
  await migrate(databaseUrl);
  const database = connect({ url: databaseUrl, applicationName: 'kasgres bench' });
  if (embedded !== undefined) await fillLargeIndex(database.pool);
  const { key } = await createKey(database.kysely, {
    name: `bench ${Date.now()}`,
    rateRu: 1e9,
    concurrency: CONNECTIONS,
  });
  const reads = await findReads(database);
  await database.close();
  const bare = await startBare();
  const api = await startApi();
  const results = new Map<string, Measurement[]>();
  const measure = async (name: string, url: string, requests: readonly Read[]): Promise<void> => {
    await sendAll(WARM_UP_MS, url, key, requests);
    const measured = await sendAll(Number(options.seconds) * 1000, url, key, requests);
    results.set(name, [...(results.get(name) ?? []), measured]);
  };
  const bareReads = (reads['transaction by id'] ?? []).map(({ path }) => ({ path: path.replace(/^.*\//, '/') }));
  for (let run = 0; run < Number(options.runs); run += 1) {
    await measure('bare look-up', bare, bareReads);
    for (const [name, requests] of Object.entries(reads)) {
      if (name.includes(only)) await measure(name, api, requests);
    }
  }
  report(results);
} finally {
  for (const child of children) child.kill();
  await embedded?.stop();
}

function get(path: (value: string) => string, values: readonly string[]): Read[] {
  return values.map((value) => ({ path: path(value) }));
}

/** Samples ids and addresses of the index, the same in each run. */
async function findReads({ pool }: Connection): Promise<Record<string, Read[]>> {
  const list = async (text: string): Promise<string[]> =>
    (await pool.query<{ value: string }>({ text, values: [] })).rows.map(({ value }) => value);
  const ids = await list(
    `select encode(transaction_id, 'hex') as value from transactions where accepting_index is not null
     order by md5(id::text) limit ${SAMPLES}`,
  );
  const addresses = await list(
    `select address as value from scripts where address is not null order by md5(id::text) limit ${SAMPLES}`,
  );
  const busiest = await list(
    `select s.address as value from balances b join scripts s on s.id = b.script_id
     where s.address is not null order by b.transaction_count desc limit 3`,
  );
  const blocks = await list(
    `select encode(hash, 'hex') as value from blocks where is_chain_block order by md5(id::text) limit ${SAMPLES}`,
  );
  const look = {
    transaction: get((id) => `/v1/transactions/${id}`, ids),
    balance: get((address) => `/v1/rpc/getBalanceByAddress/${address}`, addresses),
    addressPage: get((address) => `/v1/addresses/${address}/transactions`, addresses),
    latestBlocks: [{ path: '/v1/blocks' }],
    utxos: get((address) => `/v1/addresses/${address}/utxos`, addresses),
    blocks: blocks.map((hash) => ({
      method: 'POST' as const,
      path: '/v1/rpc/getBlock',
      body: { hash, includeTransactions: true },
    })),
  };
  return {
    getCurrentNetwork: [{ path: '/v1/rpc/getCurrentNetwork' }],
    getCoinSupply: [{ path: '/v1/rpc/getCoinSupply' }],
    getBalanceByAddress: look.balance,
    'transaction by id': look.transaction,
    'address page of 20': look.addressPage,
    'page of 20 of the three busiest addresses': get((address) => `/v1/addresses/${address}/transactions`, busiest),
    'getBlock with transactions': look.blocks,
    'acceptance of 100 ids': Array.from({ length: 20 }, (_, index) => ({
      method: 'POST',
      path: '/v1/transactions/acceptance',
      body: { transactionIds: ids.slice(index * 100, (index + 1) * 100) },
    })),
    'latest 20 blocks': look.latestBlocks,
    'latest 20 transactions': [{ path: '/v1/transactions' }],
    'UTXO page': look.utxos,
    'mix of six': ids.flatMap((_, index) =>
      Object.values(look).map((requests) => requests[index % requests.length] as Read),
    ),
  };
}

async function startBare(): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-server.ts'), databaseUrl], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) return (JSON.parse(line) as { url: string }).url;
  throw new Error('the bare server did not start');
}

async function startApi(): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(import.meta.dirname, '../packages/api/src/main.ts')], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      // Nothing listens there: no read needs a node.
      NODE_URL: 'grpc://127.0.0.1:1',
      PORT: String(port),
      METRICS_PORT: '0',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/v1/status`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`the API exited with code ${child.exitCode}`);
    await sleep(100);
  }
  return url;
}

/** Sends the requests in turn over all connections. @throws Error for a response other than 200 */
async function sendAll(durationMs: number, url: string, key: string, reads: readonly Read[]): Promise<Measurement> {
  const requests = reads.map((read) => encode(url, key, read));
  const times: number[] = [];
  let next = 0;
  const endAt = performance.now() + durationMs;
  const work = async (): Promise<void> => {
    const exchange = openConnection(url);
    while (performance.now() < endAt) {
      const startedAt = performance.now();
      const status = await exchange(requests[next++ % requests.length]);
      if (status !== '200') throw new Error(`${reads[(next - 1) % reads.length]?.path} responds ${status}`);
      times.push(performance.now() - startedAt);
    }
    await exchange(undefined);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  times.sort((a, b) => a - b);
  const percentile = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? 0;
  return { perSecond: (times.length * 1000) / durationMs, p50: percentile(0.5), p99: percentile(0.99) };
}

function encode(url: string, key: string, { method, path, body }: Read): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method ?? 'GET'} ${path} HTTP/1.1`, `host: ${new URL(url).host}`, `x-api-key: ${key}`];
  if (body !== undefined) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

/**
 * Returns a function that sends a request and resolves to the status of the response, or closes the connection. Clients of HTTP take longer than
 * the API for a small response, and share its cores.
 */
function openConnection(url: string): (request: Buffer | undefined) => Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = createConnection(Number(port), hostname).setNoDelay();
  let waiting = Promise.withResolvers<string>();
  let status = '';
  let missing = 0;
  let head = '';
  socket.on('error', (error) => waiting.reject(error));
  socket.on('close', () => waiting.reject(new Error('the server closed the connection')));
  socket.on('data', (data) => {
    if (missing === 0) {
      head += data.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const [, length] = /content-length: (\d+)/i.exec(head) ?? [];
      if (length === undefined) throw new Error(`a response without content-length: ${head}`);
      status = head.slice(9, 12);
      missing = Number(length) - (head.length - end - 4);
      head = '';
    } else {
      missing -= data.length;
    }
    if (missing === 0) waiting.resolve(status);
  });
  return async (request) => {
    waiting = Promise.withResolvers<string>();
    if (request === undefined) {
      waiting.promise.catch(() => undefined);
      socket.end();
      return '';
    }
    socket.write(request);
    return waiting.promise;
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

function report(results: ReadonlyMap<string, readonly Measurement[]>): void {
  const medians = [...results].map(([name, measured]) => ({
    name,
    perSecond: Math.round(median(measured.map(({ perSecond }) => perSecond))),
    p50: Number(median(measured.map(({ p50 }) => p50)).toFixed(1)),
    p99: Number(median(measured.map(({ p99 }) => p99)).toFixed(1)),
  }));
  const bare = medians[0]?.perSecond ?? Number.NaN;
  const rows = medians.map((row) => ({ ...row, ratio: Number((row.perSecond / bare).toFixed(3)) }));
  if (options.json) {
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  console.log('| read | requests/s | ratio | p50 ms | p99 ms |\n|---|---|---|---|---|');
  for (const { name, perSecond, ratio, p50, p99 } of rows)
    console.log(`| ${name} | ${perSecond} | ${ratio} | ${p50} | ${p99} |`);
}
