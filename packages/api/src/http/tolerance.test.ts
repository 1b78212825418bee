/** Headers that clients and proxies add to requests which do not need them. */
import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { getNetwork } from '@kasgres/kaspa';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { StreamSlot } from '../stream/stream-slots.ts';
import { serverWithoutDatabase } from '../testing/node-stub.ts';

const KEY = { 'x-api-key': `kdp_${'0'.repeat(64)}` };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const BY_ADDRESSES = '/v1/rpc/getMempoolEntriesByAddresses';

let server: FastifyInstance;
let port: number;

beforeAll(async () => {
  const made = await serverWithoutDatabase({});
  ({ server } = made);
  made.services.index.getNetwork = async () => getNetwork('simnet');
  made.services.status.get = async () => ({ network: 'simnet' }) as never;
  await server.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = server.server.address() as AddressInfo);
});
afterAll(() => server.close());

async function ask(method: string, path: string, headers: Record<string, string>, body?: string) {
  const sent = send({ port, method, path, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

const detailsOf = (body: string) => (JSON.parse(body) as { details?: unknown }).details;

const H2C = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABk' };
const WEBSOCKET = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

it.each([H2C, WEBSOCKET])('ignores the upgrade of a GET to $upgrade', async (upgrade) => {
  const plain = await ask('GET', '/v1/status', {});
  expect(plain.status).toBe(200);
  const { status, body, headers } = await ask('GET', '/v1/status', upgrade);
  expect({ status, body, upgrade: headers['upgrade'] }).toEqual({ status: 200, body: plain.body, upgrade: undefined });
});

it.each([H2C, WEBSOCKET])('reads the body of a POST that offers an upgrade to $upgrade', async (upgrade) => {
  const body = JSON.stringify({ addresses: ['kaspasim:x'] });
  const headers = { ...KEY, ...upgrade, 'content-type': 'application/json', 'content-length': String(body.length) };
  const response = await ask('POST', BY_ADDRESSES, headers, body);
  expect({ status: response.status, details: detailsOf(response.body) }).toMatchObject({
    status: 400,
    details: [{ path: 'addresses.0' }],
  });
});

it('takes a URL with any origin as that of this server', async () => {
  expect((await ask('GET', 'http://evil.example/v1/status', {})).status).toBe(200);
  const { status, headers } = await ask('DELETE', 'http://evil.example/v1/status', {});
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
});

it('ignores an expectation that it does not know', async () => {
  const { status } = await ask('GET', '/v1/status', { expect: 'nothing' });
  expect(status).toBe(200);
});

it('refuses a request without a host as every other error', async () => {
  const socket = connect(port).end('GET /v1/status HTTP/1.1\r\n\r\n');
  const response = await text(socket);
  expect(response).toMatch(/^HTTP\/1.1 400 .*x-request-id: /su);
  expect(JSON.parse(response.slice(response.indexOf('{')))).toMatchObject({ message: 'The header Host is missing' });
});

it('serves a request of HTTP/1.0, which needs no host', async () => {
  const socket = connect(port).end('GET /v1/status HTTP/1.0\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /u);
});

it('refuses an upgrade of /v1/ws to anything but a WebSocket as a request without one', async () => {
  const { status, headers } = await ask('GET', '/v1/ws', { ...KEY, ...H2C });
  // RFC 9110 §15.5.22.
  expect({ status, upgrade: headers.upgrade }).toEqual({ status: 426, upgrade: 'websocket' });
});

it.each([
  ['sec-websocket-key', 'x'],
  ['sec-websocket-version', '7'],
])('refuses a WebSocket with a wrong %s, and names it', async (path, wrong) => {
  const { status, body } = await ask('GET', '/v1/ws', { ...KEY, ...WEBSOCKET, [path]: wrong });
  expect({ status, details: detailsOf(body) }).toMatchObject({ status: 400, details: [{ path }] });
});

/** Counts the requests and slots of streams that are released. */
async function listenWithCounts(admitted: Promise<void>) {
  const released = { requests: 0, slots: 0 };
  const bucket = { name: 'key:1', apiKeyId: 1n, rateRu: 1, windowSeconds: 1, concurrency: 1, quota: undefined };
  const verdict = { remainingRu: 1, resetSeconds: 1, charge: { ru: 1, window: 1, day: '2026-01-01' } };
  const made = await serverWithoutDatabase({
    admission: {
      admit: async () => {
        await admitted;
        return { apiKey: { id: 1n, readOnly: false, bucket }, verdict };
      },
      release: () => void (released.requests += 1),
    },
  });
  const onRelease = () => void (released.slots += 1);
  made.services.streams.takeSlot = () => new StreamSlot('key:1', onRelease, () => {});
  await made.server.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => made.server.close());
  const { port: own } = made.server.server.address() as AddressInfo;
  const headers = { ...KEY, ...WEBSOCKET };
  return { released, server: made.server.server, sent: send({ port: own, path: '/v1/ws', headers }) };
}

const ONE = { requests: 1, slots: 1 };

it('releases a WebSocket whose connection is lost before it is admitted', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { released, sent, server: own } = await listenWithCounts(promise);
  sent.on('error', () => {});
  sent.end();
  const [, socket] = (await once(own, 'upgrade')) as [IncomingMessage, Socket];
  socket.destroy();
  await once(socket, 'close');
  resolve();
  await expect.poll(() => released).toEqual(ONE);
});

it.each(['kasgres, graphql-ws', 'a, a', ',', '"'])('confirms none of the subprotocols %s', async (protocols) => {
  const headers = { ...KEY, ...WEBSOCKET, 'sec-websocket-protocol': protocols };
  const sent = send({ port, path: '/v1/ws', headers });
  sent.end();
  const [response, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket];
  socket.destroy();
  expect({ status: response.statusCode, protocol: response.headers['sec-websocket-protocol'] }).toEqual({
    status: 101,
    protocol: undefined,
  });
});

it.each([
  ['no body', FORM, undefined],
  ['an announced empty body', { ...FORM, 'content-length': '0' }, undefined],
  ['an empty chunked body', { ...FORM, 'transfer-encoding': 'chunked' }, ''],
  ['an empty JSON body', { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }, ''],
  ['an empty body of an empty type', { 'content-type': '', 'content-length': '0' }, undefined],
  ['an encoding of no body', { 'content-encoding': 'gzip', 'content-length': '0' }, undefined],
])('takes %s for none', async (_name, headers, body) => {
  const created = await ask('POST', '/v1/stream/tokens', { ...KEY, ...headers }, body);
  expect({ status: created.status, body: created.body }).toMatchObject({ status: 200, body: /kst_1_/ });
  const deleted = await ask('DELETE', '/v1/webhooks/7', { ...KEY, ...headers }, body);
  expect(deleted.status).not.toBe(415);
  const without = await ask('POST', BY_ADDRESSES, { ...KEY, ...headers }, body);
  expect(without.status).toBe(400);
});

it('takes identity, in upper case, too, for no compression', async () => {
  const headers = { ...KEY, 'content-type': 'application/json', 'content-encoding': 'Identity' };
  expect((await ask('POST', '/v1/stream/tokens', headers, '{}')).status).toBe(200);
});

it('refuses a body of another type', async () => {
  for (const framing of [{ 'content-length': '3' }, { 'transfer-encoding': 'chunked' }]) {
    const { status } = await ask('POST', '/v1/stream/tokens', { ...KEY, ...FORM, ...framing }, 'a=b');
    expect(status).toBe(415);
  }
});

it('reads a JSON body with a byte order mark', async () => {
  const headers = { ...KEY, 'content-type': 'application/json' };
  expect((await ask('POST', '/v1/stream/tokens', headers, '\uFEFF{}')).status).toBe(200);
  expect((await ask('POST', '/v1/stream/tokens', headers, '\uFEFF\uFEFF{}')).status).toBe(400);
  expect((await ask('POST', '/v1/stream/tokens', headers, '\uFEFF')).status).toBe(400);
});

it.each([
  ['GET', '/v1/status', 'public, max-age=1'],
  ['GET', '/v1/nothing', 'no-store'],
  ['GET', '/nothing', 'no-store'],
  ['DELETE', '/v1/status', 'no-store'],
  ['GET', '/v1/status?x=1', 'no-store'],
  ['GET', '/v1/rpc/%zz', 'no-store'],
  ['GET', '/v1/addresses/%zz/tag', 'private, no-cache'],
  ['GET', '/docs/static/nothing.js', 'no-store'],
  ['GET', '/docs', 'no-store'],
  ['GET', '/docs/json', 'public, no-cache'],
  ['GET', '/rest/openapi.json', 'public, no-cache'],
  ['GET', '/openapi.json', 'public, no-cache'],
  ['POST', '/v1/stream/tokens', 'no-store'],
  ['GET', '/v1/ws', 'private, no-cache'],
])('says how long %s %s may be cached', async (method, path, expected) => {
  expect((await ask(method, path, KEY)).headers['cache-control']).toBe(expected);
});

it.each([
  ['no percent-encoding', '%zz'],
  ['no UTF-8', '%ff'],
  ['8,000 characters', 'a'.repeat(8000)],
])('charges a request whose parameter has %s as any other', async (_name, parameter) => {
  const { status, headers, body } = await ask('GET', `/v1/addresses/${parameter}/tag`, KEY);
  expect({ status, cost: headers['x-request-cost-ru'], details: detailsOf(body) }).toMatchObject({
    status: 400,
    cost: '0.1',
    details: [{ path: 'address' }],
  });
  expect(headers).toHaveProperty('ratelimit-remaining');
});

/** Returns what the server sends until it closes the connection. */
async function exchange(sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(sent);
  return text(socket);
}

const STATUS = `GET /v1/status HTTP/1.1\r\nhost: x\r\n\r\n`;
const TOKEN = `POST /v1/stream/tokens HTTP/1.1\r\nhost: x\r\nx-api-key: ${KEY['x-api-key']}\r\n`;

it.each([
  ['behind a request', `${STATUS}${STATUS}invalid\r\n\r\n`, ['200', '200', '400']],
  ['behind a body', `${TOKEN}content-type: application/json\r\ncontent-length: 2\r\n\r\n{}}`, ['200', '400']],
  ['of a body', `${TOKEN}transfer-encoding: chunked\r\n\r\nx\r\n`, ['400']],
])('sends the error of invalid HTTP %s in its turn', async (_name, sent, statuses) => {
  const received = await exchange(sent);
  expect([...received.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual(statuses);
});

it('says that a response to invalid HTTP must not be cached', async () => {
  const { headers } = await ask('GET', '/v1/status', { 'x-long': 'x'.repeat(20_000) });
  expect(headers['cache-control']).toBe('no-store');
});
