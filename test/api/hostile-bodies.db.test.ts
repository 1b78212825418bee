/**
 * Bodies of at most 1 MiB to every operation of openapi.json, in the real process with a small
 * heap: each is refused with a short error, and none blocks the event loop for long. Time is that
 * of the thread on a processor, so that a busy machine does not matter.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { createKey } from '@kasgres/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/programs.ts';
import { hostileBodies, type Schema } from './hostile-bodies.ts';
import { ApiClient } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';
import { submittedBlock, submittedTransaction, UNKNOWN_ID, withLargestSequences } from './submitted-block.ts';

const MAX_BLOCKED_MS = 100;
const MAX_ERROR_BYTES = 16_000;
const MAX_DETAILS = 20;
const MAX_BODY_BYTES = 2 ** 20;
const HEAP_MB = 512;
const TIMEOUT_MS = 600_000;

interface Operation {
  operationId: string;
  parameters?: { in: string; name: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

let harness: Harness;
let api: ApiClient;
let watchUrl: string;
let metricsUrl: string;

beforeAll(async () => {
  const port = await freePort();
  watchUrl = `http://127.0.0.1:${port}`;
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const watch = new URL('event-loop-watch.ts', import.meta.url).href;
  harness = await openHarness({
    rounds: 30,
    variables: {
      EVENT_LOOP_PORT: String(port),
      METRICS_PORT: String(metricsPort),
      PORT: String(await freePort()),
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import ${watch}`,
      LOG_LEVEL: 'error',
    },
  });
  const { key } = await createKey(harness.database.kysely, { name: 'hostile', rateRu: 1e9 });
  api = new ApiClient(harness.api.url, key);
});
afterAll(() => harness?.close());

/** The longest time for which the event loop was blocked since it was asked for last. */
const readBlockedMs = async (): Promise<number> => Number(await (await fetch(watchUrl)).text());

const ATTEMPTS = 5;

/**
 * The median of several attempts, unless the first is within the limit: garbage of earlier requests
 * may be collected in one.
 */
async function measureBlockedMs(send: () => Promise<unknown>): Promise<number> {
  const measured: number[] = [];
  do {
    await readBlockedMs();
    await send();
    measured.push(await readBlockedMs());
  } while (measured.length < ATTEMPTS && (measured[0] as number) > MAX_BLOCKED_MS);
  return measured.toSorted((a, b) => a - b)[Math.floor(measured.length / 2)] as number;
}

interface Result {
  name: string;
  status: number;
  blockedMs: number;
  fault?: string;
}

const isRefused = (status: number): boolean => status >= 400 && status < 500;

async function sendHostile(method: string, path: string, text: string, name: string): Promise<Result> {
  let status = 0;
  let fault: string | undefined;
  const blockedMs = await measureBlockedMs(async () => {
    const response = await fetch(`${api.url}${path}`, {
      method,
      headers: { 'x-api-key': api.key, 'content-type': 'application/json' },
      body: text,
    });
    const received = await response.text();
    status = response.status;
    const { details = [] } = JSON.parse(received) as { details?: unknown[] };
    if (!isRefused(status)) fault = `responded ${status}`;
    else if (Buffer.byteLength(received) > MAX_ERROR_BYTES) fault = `an error of ${received.length} bytes`;
    else if (details.length > MAX_DETAILS) fault = `${details.length} details`;
  });
  if (blockedMs > MAX_BLOCKED_MS) fault ??= `blocked the event loop for ${Math.round(blockedMs)} ms`;
  return { name, status, blockedMs, ...(fault !== undefined && { fault }) };
}

const withBody = operations.filter(({ operation }) => operation.requestBody !== undefined);
const withoutBody = operations.filter(({ operation }) => operation.requestBody === undefined);

describe('a hostile request body', () => {
  test.each(withBody)(
    'to $method $path is refused quickly',
    async ({ method, path, operation }) => {
      const schema = operation.requestBody?.content['application/json'].schema as Schema;
      const faults: Result[] = [];
      for (const { name, text } of hostileBodies(schema)) {
        expect(Buffer.byteLength(text), name).toBeLessThanOrEqual(MAX_BODY_BYTES);
        const result = await sendHostile(method, path, text, name);
        if (result.fault !== undefined) faults.push(result);
      }
      expect(faults).toEqual([]);
      expect(harness.program.isRunning()).toBe(true);
    },
    TIMEOUT_MS,
  );
});

describe('a hostile URL', () => {
  const LONG = 15_000;
  /** With all that fits into 16 KiB of headers. */
  const QUERIES: Record<string, string> = {
    'unknown parameters': Array.from({ length: LONG / 6 }, (_, index) => index.toString(36)).join('&'),
    'one unknown parameter': 'x'.repeat(LONG),
    'unknown parameters with escaped names': '%00%22=&'.repeat(LONG / 8),
    'a parameter again and again': 'limit=1&'.repeat(LONG / 8),
    'a long value of every parameter': [
      'limit',
      'starting_after',
      'label',
      'windowSize',
      'startHash',
      'interval',
      'evidence_for',
    ]
      .map((name) => `${name}=${'9'.repeat(LONG / 8)}`)
      .join('&'),
  };

  test.each(withoutBody)(
    'to $method $path is refused quickly',
    async ({ method, path, operation }) => {
      const faults: Result[] = [];
      const ask = async (name: string, url: string): Promise<void> => {
        let status = 0;
        let fault: string | undefined;
        const blockedMs = await measureBlockedMs(async () => {
          const response = await api.request(url, { method });
          status = response.status;
          const { details = [] } = response.json as { details?: unknown[] };
          if (!isRefused(status)) fault = `responded ${status}`;
          else if (Buffer.byteLength(response.text) > MAX_ERROR_BYTES)
            fault = `an error of ${response.text.length} bytes`;
          else if (details.length > MAX_DETAILS) fault = `${details.length} details`;
        });
        if (blockedMs > MAX_BLOCKED_MS) fault ??= `blocked the event loop for ${Math.round(blockedMs)} ms`;
        if (fault !== undefined) faults.push({ name, status, blockedMs, fault });
      };
      const plain = path.replaceAll(/\{\w+\}/g, '1');
      for (const [name, query] of Object.entries(QUERIES)) await ask(name, `${plain}?${query}`);
      for (const { name } of (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')) {
        for (const value of ['q'.repeat(LONG), '9'.repeat(900), '%00'.repeat(300), `kaspasim:${'q'.repeat(900)}`]) {
          await ask(
            name,
            path.replaceAll(/\{(\w+)\}/g, (_, each: string) => (each === name ? value : '1')),
          );
        }
      }
      expect(faults).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

const many = <T>(count: number, itemOf: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => itemOf(index));
const withMass = (list: object[]) => list.map((each) => ({ ...each, mass: '1' }));
// Bodies that pass validation get as far as the node, or to the look-up of a storage mass that was
// left out.
const expectedRefusal = (text: string): unknown =>
  text.includes('"block"') && !text.includes('"mass"')
    ? 'The request is not valid'
    : (expect.stringMatching(/^The node rejected the request: /) as unknown);

/** As many hashes of parents as a header may have. */
const block = (transactions: object[]) =>
  submittedBlock(
    transactions,
    many(250, () => many(10, () => UNKNOWN_ID)),
  );

describe('a large valid body', () => {
  const bodies: [string, string, () => string, number][] = [
    [
      '1,000 inputs and outputs',
      '/v1/rpc/submitTransaction',
      () => withLargestSequences({ transaction: submittedTransaction(1000, 1000) }),
      400,
    ],
    [
      'the longest payload',
      '/v1/rpc/submitTransaction',
      () => JSON.stringify({ transaction: { ...submittedTransaction(1, 1), payload: 'ab'.repeat(250_000) } }),
      400,
    ],
    [
      '4,000 inputs',
      '/v1/rpc/submitBlock',
      () => withLargestSequences(block(withMass(many(4, () => submittedTransaction(1000, 0))))),
      400,
    ],
    [
      '9,000 outputs',
      '/v1/rpc/submitBlock',
      () => withLargestSequences(block(withMass(many(9, () => submittedTransaction(1, 1000))))),
      400,
    ],
    [
      '1,713 transactions',
      '/v1/rpc/submitBlock',
      () => withLargestSequences(block(withMass(many(1713, () => submittedTransaction(1, 1))))),
      400,
    ],
    [
      '1,713 transactions whose storage mass nobody knows',
      '/v1/rpc/submitBlock',
      () => withLargestSequences(block(many(1713, () => submittedTransaction(1, 1)))),
      400,
    ],
    [
      '500 ids',
      '/v1/transactions/acceptance',
      () => JSON.stringify({ transactionIds: many(500, (index) => index.toString(16).padStart(64, '0')) }),
      200,
    ],
    [
      '1,000 scores',
      '/v1/rpc/getDaaScoreTimestampEstimate',
      () => JSON.stringify({ daaScores: many(1000, String) }),
      200,
    ],
  ];

  test.each(bodies)(
    'of %s to %s does not block the event loop',
    async (_name, path, textOf, wanted) => {
      const text = textOf();
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BODY_BYTES);
      let status = 0;
      let details: unknown;
      const blockedMs = await measureBlockedMs(async () => {
        const response = await api.request(path, { body: text });
        ({ status } = response);
        details = response.json['message'];
      });
      expect({ status, details }).toEqual({
        status: wanted,
        details: wanted === 200 ? undefined : expectedRefusal(text),
      });
      expect(blockedMs).toBeLessThanOrEqual(MAX_BLOCKED_MS);
    },
    TIMEOUT_MS,
  );
});

test(
  'bodies that arrive byte by byte take little more memory than others',
  async () => {
    const CONNECTIONS = 4;
    const CHUNKS = 2 ** 18;
    const CHUNKS_AT_ONCE = 2 ** 14;
    const MAX_GROWTH_BYTES = 240 * 2 ** 20;
    const { hostname, port } = new URL(api.url);
    const head =
      `POST /v1/rpc/submitTransaction HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.key}\r\nconnection: close\r\n` +
      'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    const send = async (): Promise<string> => {
      const socket = connect({ host: hostname, port: Number(port) });
      let received = '';
      socket.on('data', (data) => {
        received += data.toString();
      });
      const closed = once(socket, 'close');
      socket.write(head);
      for (let sent = 0; sent < CHUNKS; sent += CHUNKS_AT_ONCE) {
        if (!socket.write('1\r\n1\r\n'.repeat(CHUNKS_AT_ONCE))) await Promise.race([once(socket, 'drain'), closed]);
      }
      socket.write('0\r\n\r\n');
      await closed;
      return received;
    };
    // Lets the heap grow to its usual size. Chunks that are kept one by one would take more than
    // 350 MiB, others up to 110.
    await send();
    const before = await readResidentBytes();
    let most = before;
    const sent = new AbortController();
    const watching = (async () => {
      while (!sent.signal.aborted) most = Math.max(most, await readResidentBytes());
    })();
    const received = await Promise.all(Array.from({ length: CONNECTIONS }, send)).finally(() => sent.abort());
    await watching;
    // A busy machine does not parse a million chunks within the request timeout.
    for (const text of received) expect(text).toMatch(/^HTTP\/1.1 40[08] /);
    expect(most - before).toBeLessThan(MAX_GROWTH_BYTES);
  },
  TIMEOUT_MS,
);

async function readResidentBytes(): Promise<number> {
  const metrics = await (await fetch(metricsUrl)).text();
  return Number(/^process_resident_memory_bytes\S* (\S+)/m.exec(metrics)?.[1]);
}
