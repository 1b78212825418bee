/**
 * Sessions have the settings that the programs rely on, over TLS as libpq would, and without what
 * the environment says.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectSocket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { readFileSync } from 'node:fs';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { checkSchema, migrate } from '../schema/migrate.ts';
import { clientConfig, PINNED } from './client-config.ts';
import { connect } from './connect.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.drop();
});

async function ask<Row extends object>(url: string, sql: string): Promise<Row | undefined> {
  const client = new Client(clientConfig(url));
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows[0];
  } finally {
    await client.end();
  }
}

test('defaults of the database do not decide the meaning of statements', async () => {
  const name = new URL(database.url).pathname.slice(1);
  for (const [setting, value] of Object.entries({
    extra_float_digits: '-5',
    datestyle: 'German, DMY',
    intervalstyle: 'iso_8601',
    timezone: 'Asia/Kathmandu',
    bytea_output: 'escape',
    transform_null_equals: 'on',
    search_path: 'pg_catalog',
    array_nulls: 'off',
  })) {
    const client = new Client(clientConfig(database.url));
    await client.connect();
    await client.query(`alter database ${name} set ${setting} = '${value}'`);
    await client.end();
  }
  for (const [setting, value] of Object.entries(PINNED)) {
    expect(await ask(database.url, `select current_setting('${setting}') as value`)).toEqual({ value });
  }
  expect(await ask(database.url, `select (1.0::float8 / 3)::text as third, '2026-11-02'::date::text as day`)).toEqual({
    third: '0.3333333333333333',
    day: '2026-11-02',
  });
  const one = await ask(database.url, `select ('{1,NULL}'::bigint[])[2] is null as is_null`);
  expect(one).toEqual({ is_null: true });
});

test('time limits of the database do not end what may take long', async () => {
  const limited = await createTestDatabase();
  const name = new URL(limited.url).pathname.slice(1);
  const limits = ['statement', 'lock', 'transaction', 'idle_in_transaction_session', 'idle_session'];
  // Only Postgres 17 and newer have a limit of transactions.
  await ask(
    limited.url,
    `do $$ declare name text; begin
       for name in select s.name from pg_settings s where s.name = any('{${limits.map((limit) => `${limit}_timeout`).join()}}') loop
         execute format('alter database ${name} set %I = ''100ms''', name);
       end loop;
     end $$`,
  );
  const { pool, close } = connect({ url: limited.url, applicationName: 'test' });
  try {
    const { rows } = await pool.query(`select name from pg_settings where name ~ '_timeout$' and setting = '100'`);
    expect(rows).toEqual([]);
    expect(await migrate(limited.url)).toEqual([]);
  } finally {
    await close();
    await limited.drop();
  }
});

test('variables of libpq do not change settings', async () => {
  vi.stubEnv('PGOPTIONS', '-c extra_float_digits=0 -c geqo=off');
  expect(await ask(database.url, `select current_setting('geqo') as geqo`)).toEqual({ geqo: 'on' });
});

test('a server that accepts a connection and never responds is not waited for', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const connecting = new Client(clientConfig(`postgres://nobody@127.0.0.1:${port}/none`)).connect();
    const failed = expect(connecting).rejects.toThrow('timeout expired');
    await once(server, 'connection');
    await vi.advanceTimersByTimeAsync(10_000);
    await failed;
  } finally {
    vi.useRealTimers();
    server.close();
  }
});

test('a connection whose settings did not arrive is refused', async () => {
  const pool = new Pool({ connectionString: database.url, max: 1 });
  try {
    await expect(checkSchema(pool)).rejects.toThrow(/a pooler such as PgBouncer dropped them/);
  } finally {
    await pool.end();
  }
});

/** With its length, the first message of a client that asks for TLS. */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');

/**
 * Terminates TLS before the server, as a managed Postgres would, and refuses clients that do not
 * ask for it.
 */
async function startTls(key: Buffer, cert: Buffer): Promise<{ server: Server; port: number }> {
  const { hostname, port } = new URL(database.url);
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (first) => {
      if (!first.equals(SSL_REQUEST)) return socket.destroy();
      socket.write('S');
      const plain = new TLSSocket(socket, { isServer: true, key, cert });
      plain.on('error', () => undefined);
      const upstream = connectSocket(Number(port), hostname);
      upstream.on('error', () => undefined);
      return plain.pipe(upstream).pipe(plain);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

test('sslmode verifies what libpq verifies, with a private certificate authority', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kasgres-tls-'));
  const file = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): Buffer => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-keyout',
    'server.key',
    '-out',
    'server.csr',
  );
  openssl(
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-days',
    '2',
    '-copy_extensions',
    'copy',
    '-out',
    'server.pem',
  );
  const { server, port } = await startTls(readFileSync(file('server.key')), readFileSync(file('server.pem')));
  const at = (host: string, parameters: string): string => {
    const url = new URL(database.url);
    url.host = `${host}:${port}`;
    url.search = parameters;
    return url.toString();
  };
  const one = async (host: string, parameters: string) => await ask(at(host, parameters), 'select 1 as one');
  try {
    const root = `sslrootcert=${file('ca.pem')}`;
    expect(await one('127.0.0.1', 'sslmode=require')).toEqual({ one: 1 });
    expect(await one('127.0.0.1', `sslmode=verify-ca&${root}`)).toEqual({ one: 1 });
    expect(await one('localhost', `sslmode=verify-full&${root}`)).toEqual({ one: 1 });
    await expect(one('127.0.0.1', `sslmode=verify-full&${root}`)).rejects.toThrow(/does not match certificate/);
    await expect(one('localhost', 'sslmode=verify-full')).rejects.toThrow(/certificate/);
    await expect(one('localhost', 'sslmode=disable')).rejects.toThrow();
  } finally {
    server.close();
    rmSync(directory, { recursive: true });
  }
});
