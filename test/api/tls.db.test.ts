/**
 * HTTPS: served when there is a certificate, with a renewed one without a restart, and refused with
 * an explanation when the files are of no use.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Program, startApiProgram } from '../support/programs.ts';
import { createSelfSigned, type SelfSigned } from './self-signed.ts';

/** Nobody listens there: what needs no node is asked. */
const NODE_URL = 'grpc://127.0.0.1:1';

let database: TestDatabase;
let folder: string;
let program: Program | undefined;
let port: number;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'kasgres-tls-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});
afterEach(() => program?.stop());

const certFile = () => join(folder, 'cert.pem');
const keyFile = () => join(folder, 'key.pem');

async function write({ cert, key }: SelfSigned): Promise<void> {
  await writeFile(certFile(), cert);
  await writeFile(keyFile(), key);
}

async function start(env: Record<string, string>): Promise<Program> {
  program = startApiProgram({ nodeUrl: NODE_URL, databaseUrl: database.url }, env);
  return program;
}

/** Starts it with the files, and waits until it listens. */
async function serve(): Promise<Program> {
  const running = await start(withFiles());
  port = Number(new URL(await running.url()).port);
  return running;
}

const withFiles = () => ({ TLS_CERT_FILE: certFile(), TLS_KEY_FILE: keyFile() });

/** The status of a response over a connection that trusts this certificate alone. */
async function statusOf(path: string, { cert }: SelfSigned): Promise<number | undefined> {
  const request = get({ host: '127.0.0.1', port, path, ca: cert, agent: false });
  const [response] = (await once(request, 'response')) as [{ statusCode?: number; resume: () => void }];
  response.resume();
  return response.statusCode;
}

describe('with a certificate', () => {
  test('it responds over HTTPS only', async () => {
    const certificate = createSelfSigned();
    await write(certificate);
    await serve();
    await expect.poll(() => statusOf('/v1/status', certificate).catch(() => 0), { timeout: 30_000 }).toBe(200);
    expect(await statusOf('/v1/rpc/getBlocks', certificate)).toBe(405);
    await expect(fetch(`http://127.0.0.1:${port}/v1/status`)).rejects.toThrow();
  });

  test('it loads a renewed certificate, rejects an invalid one, and keeps open connections', async () => {
    const [first, second] = [createSelfSigned(), createSelfSigned()];
    await write(first);
    const running = await serve();
    await expect.poll(() => statusOf('/v1/status', first).catch(() => 0), { timeout: 30_000 }).toBe(200);
    const open = connect({ host: '127.0.0.1', port, ca: first.cert });
    await once(open, 'secureConnect');

    await writeFile(certFile(), second.cert);
    await expect.poll(() => running.output(), { timeout: 15_000 }).toContain('keeping the current certificate');
    expect(await statusOf('/v1/status', first)).toBe(200);

    await write(second);
    await expect.poll(() => statusOf('/v1/status', second).catch(() => 0), { timeout: 15_000 }).toBe(200);
    await expect(statusOf('/v1/status', first)).rejects.toThrow('self-signed');

    open.write('GET /v1/status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    const [data] = (await once(open, 'data')) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1.1 200 OK/);
    open.destroy();
  });
});

describe('a TLS handshake that is never completed', () => {
  const HANDSHAKE_TIMEOUT_MS = 10_000;
  const HALF_OF_A_CLIENT_HELLO = '16030100c8010000c40303';
  const beginnings = [
    Buffer.alloc(0),
    Buffer.from(HALF_OF_A_CLIENT_HELLO, 'hex'),
    Buffer.from('GET /v1/status HTTP/1.1\r\nhost: x\r\n\r\n'),
    Buffer.alloc(1000, 0xff),
  ];

  test('it closes the connection after any request', async () => {
    const certificate = createSelfSigned();
    await write(certificate);
    await serve();
    await expect.poll(() => statusOf('/v1/status', certificate).catch(() => 0), { timeout: 30_000 }).toBe(200);
    const begun = performance.now();
    const lives = beginnings.map(async (bytes) => {
      // Half open: this side does not close by itself when the server does.
      const socket = connectTcp({ host: '127.0.0.1', port, allowHalfOpen: true });
      socket.on('error', () => {});
      socket.resume();
      if (bytes.length > 0) socket.write(bytes);
      await Promise.race([once(socket, 'close'), once(socket, 'end')]);
      socket.destroy();
    });
    await Promise.all(lives);
    expect(performance.now() - begun).toBeLessThan(2 * HANDSHAKE_TIMEOUT_MS);
    expect(await statusOf('/v1/status', certificate)).toBe(200);
  });
});

describe('unusable certificate files', () => {
  const cases: [string, () => Record<string, string>, RegExp][] = [
    ['only the certificate', () => ({ TLS_CERT_FILE: certFile() }), /TLS_KEY_FILE: is not set/],
    ['only the key', () => ({ TLS_KEY_FILE: keyFile() }), /TLS_CERT_FILE: is not set/],
    ['no file', () => ({ ...withFiles(), TLS_KEY_FILE: join(folder, 'none') }), /TLS_KEY_FILE: cannot be read/],
    [
      'another key',
      () => ({ ...withFiles(), TLS_KEY_FILE: join(folder, 'other.pem') }),
      /TLS_CERT_FILE: cannot be used/,
    ],
    ['no certificate', () => ({ ...withFiles(), TLS_CERT_FILE: keyFile() }), /TLS_CERT_FILE: cannot be used/],
  ];
  beforeAll(async () => {
    await write(createSelfSigned());
    await writeFile(join(folder, 'other.pem'), createSelfSigned().key);
  });

  test.each(cases)('it refuses to start with %s', async (_name, env, message) => {
    const ended = await start({ ...env(), CORS_ORIGINS: 'example.org/path' });
    expect(await ended.exited).toBe(1);
    expect(ended.output()).toMatch(message);
    // All that is wrong is told at once.
    expect(ended.output()).toMatch(/CORS_ORIGINS: expected origins/);
  });
});
