/**
 * Clients that ask for large responses and do not read them, or read a byte now and then, against
 * the real process: they neither fill its memory nor keep their connections, and a client that
 * reads slowly but steadily gets its whole response.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { createKey } from '@kasgres/database';
import { afterAll, beforeAll, test, vi } from 'vitest';
import { type Program, startApiProgram } from '../support/programs.ts';
import { ApiClient } from '../support/api-client.ts';
import { createSelfSigned, type SelfSigned } from './self-signed.ts';
import { openHarness, type Harness } from './harness.ts';

/**
 * Half of it, after compression, is more than the kernel takes for a client that does not read: up
 * to 5 MB on loopback.
 */
const RESPONSE_BYTES = 16 * 2 ** 20;
/**
 * Bytes that no client has read count up to 256 MiB, and those that were made in the two seconds of
 * grace; then there is the program.
 */
const MAX_RSS_MB = 1000;
/** Without progress for 30 s, after a time in which all responses are made. */
const CUT_OFF_WITHIN_MS = 60_000;
/** Below the limit of requests in flight. Together they are sent 960 MiB. */
const HOSTILE = 60;
/** A 3G connection, for longer than a connection without progress is kept. */
const STEADY_BYTES_PER_SECOND = 200_000;
const STEADY_MS = 45_000;

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let harness: Harness;
let folder: string;
let certificate: SelfSigned;
let tlsProgram: Program;
let tlsPort: number;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60 });
  await enlargeResponses();

  folder = await mkdtemp(join(tmpdir(), 'kasgres-slow-readers-'));
  certificate = createSelfSigned();
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await writeFile(certFile, certificate.cert);
  await writeFile(keyFile, certificate.key);
  const env = { nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url };
  tlsProgram = startApiProgram(env, { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
  tlsPort = Number(new URL(await tlsProgram.url()).port);
});
afterAll(async () => {
  await tlsProgram.stop();
  await harness.close();
  await rm(folder, { recursive: true });
});

const PAGE = { includeBlocks: true, includeTransactions: true };

/**
 * Gives all transactions payloads without a pattern, so that the first page of blocks with
 * transactions has RESPONSE_BYTES.
 */
async function enlargeResponses(): Promise<void> {
  const { json } = await harness.api.request('/v1/rpc/getBlocks', { body: PAGE });
  const transactions = (json['blocks'] as { transactions: unknown[] }[]).flatMap((block) => block.transactions).length;
  const hashes = Math.ceil(RESPONSE_BYTES / transactions / 64);
  await harness.database.pool.query(
    `update transactions t set payload =
      (select string_agg(sha256((t.id || ' ' || n)::bytea), '') from generate_series(1, $1) n)`,
    [hashes],
  );
}

async function newKey(): Promise<string> {
  const { key } = await createKey(harness.database.kysely, { name: 'client', rateRu: 1e6 });
  return key;
}

interface Reader {
  socket: Socket;
  received: number;
  isOpen: boolean;
  /** The first part of what was received. */
  head: string;
}

interface AskOptions {
  encoding?: string;
  tls?: boolean;
}

/** Asks for the page, over a connection that is not read from. */
function ask(key: string, { encoding = 'identity', tls = false }: AskOptions = {}): Reader {
  const socket = tls
    ? connectTls({ host: '127.0.0.1', port: tlsPort, ca: certificate.cert })
    : connectTcp({ host: '127.0.0.1', port: Number(new URL(harness.api.url).port) });
  const reader: Reader = { socket, received: 0, isOpen: true, head: '' };
  socket.on('data', (data: Buffer) => {
    reader.received += data.length;
    if (reader.head === '') reader.head = data.toString('latin1').slice(0, 2000);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    reader.isOpen = false;
  });
  socket.pause();
  const body = JSON.stringify(PAGE);
  const headers = [
    'POST /v1/rpc/getBlocks HTTP/1.1',
    'host: x',
    'connection: close',
    `x-api-key: ${key}`,
    `accept-encoding: ${encoding}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`);
  return reader;
}

/**
 * Asks, and reads no further than the beginning of the response. A busy machine may need more than
 * one try: the others are a 503.
 */
async function askUntilSent(key: string, options: AskOptions = {}): Promise<Reader> {
  for (;;) {
    const reader = ask(key, options);
    const begun = once(reader.socket, 'data');
    reader.socket.resume();
    await begun;
    reader.socket.pause();
    if (reader.head.includes(' 200 OK')) return reader;
    reader.socket.destroy();
  }
}

/** Reads at a rate for STEADY_MS, and what is left then at any rate, until the connection ends. */
async function readSteadily({ socket }: Reader, bytesPerSecond: number): Promise<void> {
  const steadyUntil = performance.now() + STEADY_MS;
  socket.on('data', (data: Buffer) => {
    if (performance.now() > steadyUntil) return;
    socket.pause();
    setTimeout(() => socket.resume(), (1000 * data.length) / bytesPerSecond);
  });
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
}

/**
 * A byte a second reaches the program; the rest of what Node has read stays in its buffer, and the
 * kernel's fills up.
 */
function readByteNowAndThen({ socket }: Reader): void {
  const timer = setInterval(() => void socket.read(1), 1000);
  socket.once('close', () => clearInterval(timer));
}

async function readMetric(name: string): Promise<number> {
  const text = await (await fetch(await harness.program.metricsUrl())).text();
  return [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  );
}

/** Megabytes; the most of any sample since it was started. */
function watchMemory(): { stop: () => number } {
  let most = 0;
  const timer = setInterval(() => {
    const status = readFileSync(`/proc/${harness.program.processId}/status`, 'utf8');
    most = Math.max(most, Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
  }, 100);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

test.concurrent('it disconnects clients that do not read, with bounded memory and fast responses to others', {
  timeout: 240_000,
}, async ({ expect, onTestFinished }) => {
  const [greedy, modest, phone] = await Promise.all([newKey(), newKey(), newKey()]);
  const client = new ApiClient(harness.api.url, modest);
  const { text: whole } = await client.request('/v1/rpc/getBlocks', { body: PAGE });
  expect(whole.length).toBeGreaterThan(RESPONSE_BYTES);

  const steady = await askUntilSent(phone);
  const compressed = await askUntilSent(phone, { encoding: 'gzip' });
  const steadyReads = [steady, compressed].map((reader) => readSteadily(reader, STEADY_BYTES_PER_SECOND));

  const memory = watchMemory();
  onTestFinished(() => void memory.stop());
  const hostile: Reader[] = [];
  const statuses = new Set<number>();
  for (let number = 0; number < HOSTILE; number += 1) {
    const reader = await askUntilSent(greedy, { encoding: number % 4 === 0 ? 'gzip' : 'identity' });
    if (number % 4 === 1) readByteNowAndThen(reader);
    hostile.push(reader);
    if (number % 4 === 3) statuses.add((await client.request('/v1/rpc/getSink')).status);
  }

  const begun = performance.now();
  let cutOff = 0;
  while (cutOff < hostile.length && performance.now() - begun < CUT_OFF_WITHIN_MS) {
    statuses.add((await client.request('/v1/rpc/getSink')).status);
    cutOff = await readMetric('kasgres_api_aborted_responses_total');
    await sleep(200);
  }
  expect(cutOff).toBe(hostile.length);
  expect([...statuses]).toEqual([200]);
  expect(memory.stop()).toBeLessThan(MAX_RSS_MB);

  // Their sides learn it, and nothing has more than the kernel kept.
  for (const { socket } of hostile) socket.resume();
  await expect.poll(() => hostile.filter(({ isOpen }) => isOpen).length).toBe(0);
  for (const { head, received } of hostile) {
    expect(head).toContain('200 OK');
    expect(received).toBeLessThan(RESPONSE_BYTES);
  }

  await Promise.all(steadyReads);
  expect(steady.head).toContain('200 OK');
  expect(steady.received).toBeGreaterThan(RESPONSE_BYTES);
  expect(compressed.head).toContain('content-encoding: gzip');
  // Nothing of the key is in flight any longer.
  expect(await readMetric('kasgres_api_aborted_responses_total')).toBe(hostile.length);
  const again = new ApiClient(harness.api.url, greedy);
  const responses = await Promise.all(Array.from({ length: 128 }, () => again.request('/v1/rpc/getSink')));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
});

test.concurrent('it disconnects clients that do not read over TLS', { timeout: 240_000 }, async ({ expect }) => {
  const key = await newKey();
  const steady = await askUntilSent(key, { tls: true });
  const reading = readSteadily(steady, STEADY_BYTES_PER_SECOND);
  const silent: Reader[] = [];
  for (let number = 0; number < 8; number += 1) silent.push(await askUntilSent(key, { tls: true }));
  await vi.waitFor(() => expect(tlsProgram.output().match(/"reason":"stalled"/g)).toHaveLength(silent.length), {
    timeout: CUT_OFF_WITHIN_MS,
    interval: 200,
  });
  for (const { socket } of silent) socket.resume();
  await expect.poll(() => silent.filter(({ isOpen }) => isOpen).length).toBe(0);
  for (const { head, received } of silent) {
    expect(head).toContain('200 OK');
    expect(received).toBeLessThan(RESPONSE_BYTES);
  }
  await reading;
  expect(steady.received).toBeGreaterThan(RESPONSE_BYTES);
});
