/** Which requests are served without Fastify, and that their responses differ from those of Fastify in nothing. */
import { type IncomingMessage, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { getNetwork } from '@kasgres/kaspa';
import { createLogger, createRegistry } from '@kasgres/runtime';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { IndexState } from '../index-state/index-state.ts';
import type { RequestKey } from '../limits/admission.ts';
import { serverWithoutDatabase } from '../testing/node-stub.ts';

const PATH = '/v1/rpc/getCurrentNetwork';

const apiKey: RequestKey = { id: 7n, readOnly: true, bucket: { name: 'key:7', rateRu: 1000, windowSeconds: 1 } };
const standing = { remainingRu: 999.9, resetSeconds: 1 };
const STATE = {
  network: getNetwork('simnet'),
  sinkHash: 'ab'.repeat(32),
  virtualMergeSet: [],
  firstCatchUp: false,
  starts: 1,
  gaps: 2,
} as unknown as IndexState;

interface Setup {
  /** Whether the state and the key are in memory. Default: both. */
  known?: { state: boolean; key: boolean };
  corsOrigins?: readonly string[];
}

async function serve({ known = { state: true, key: true }, corsOrigins }: Setup = {}) {
  const lines: string[] = [];
  const logger = createLogger({ name: 'api under test', destination: { write: (line) => void lines.push(line) } });
  const registry = createRegistry('api under test');
  const release = vi.fn<() => void>();
  const { server, services } = await serverWithoutDatabase({
    admission: {
      admit: async () => ({ apiKey, verdict: { ...standing, charge: { ru: 0.1, window: 1, day: '2026-01-01' } } }),
      admitAtOnce: () => (known.key ? { apiKey, standing } : undefined),
      release,
    },
    logger,
    registry,
    ...(corsOrigins && { corsOrigins }),
  });
  services.index.getState = async () => STATE;
  services.index.getKnownState = () => (known.state ? STATE : undefined);
  services.index.refreshState = () => undefined;
  const throughFastify = vi.fn<() => void>();
  server.addHook('onSend', (_request, _reply, payload, done) => {
    throughFastify();
    done(null, payload);
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());
  const { port } = server.server.address() as AddressInfo;

  /** Returns the response, and whether Fastify made it. */
  const get = async (headers: Record<string, string> = {}, path = PATH, method = 'GET') => {
    const before = throughFastify.mock.calls.length;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    send({ port, path, method, headers: { 'x-api-key': 'kdp_', ...headers } }, resolve)
      .on('error', reject)
      .end();
    const response = await promise;
    const body = (await buffer(response)).toString();
    const byFastify = throughFastify.mock.calls.length > before;
    return { status: response.statusCode, headers: response.headers, body, byFastify };
  };
  return { get, release, lines, registry, port };
}

it('responds as Fastify does, with the same headers', async () => {
  const { get } = await serve();
  const id = { 'x-request-id': 'the-same' };
  for (const path of [PATH, '/v1/network/supply/max']) {
    const fromMemory = await get(id, path);
    // A header that has no effect.
    const fromFastify = await get({ ...id, 'content-encoding': 'identity' }, path);
    expect([fromMemory.byFastify, fromFastify.byFastify]).toEqual([false, true]);
    for (const { headers } of [fromMemory, fromFastify]) delete headers.date;
    expect({ ...fromMemory, byFastify: true }).toEqual(fromFastify);
    expect(fromMemory.headers).toMatchObject({ 'x-kasgres-gaps': '2', 'x-request-cost-ru': '0.1' });
  }
});

it('frees the slot, counts and logs the request as Fastify does', async () => {
  const { get, release, lines, registry } = await serve();
  await get({ 'x-request-id': 'from-memory' });
  await get({ 'x-request-id': 'from-fastify', 'content-encoding': 'identity' });
  await vi.waitFor(() => expect(release.mock.calls).toEqual([[apiKey], [apiKey]]));
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ reqId }) => reqId);
  expect(logged).toMatchObject([{ reqId: 'from-memory' }, { reqId: 'from-fastify' }]);
  const [fromMemory, fromFastify] = logged.map((line) =>
    Object.entries(line).filter(([field]) => !['reqId', 'time', 'durationMs'].includes(field)),
  );
  expect(Object.fromEntries(fromMemory ?? [])).toEqual(Object.fromEntries(fromFastify ?? []));
  const metrics = await registry.metrics();
  expect(metrics).toMatch(/kasgres_api_request_seconds_count\{route="\/v1\/rpc\/getCurrentNetwork".*\} 2/);
  expect(metrics).toMatch(/kasgres_api_charged_request_units_total\{.*\} 0\.2/);
});

it('leaves every other request to Fastify', async () => {
  const { get } = await serve();
  const { etag = '' } = (await get()).headers;
  expect(await get({ 'if-none-match': etag })).toMatchObject({ status: 304, byFastify: true });
  expect(await get({ origin: 'https://explorer.example' })).toMatchObject({ status: 200, byFastify: true });
  expect(await get({ 'content-encoding': 'gzip' })).toMatchObject({ status: 200, byFastify: true });
  expect(await get({}, `${PATH}?network=mainnet`)).toMatchObject({ status: 400, byFastify: true });
  expect(await get({}, PATH, 'HEAD')).toMatchObject({ status: 200, byFastify: true });
  expect(await get({}, PATH, 'POST')).toMatchObject({ status: 405, byFastify: true });
  expect(await get({}, `${PATH}/`)).toMatchObject({ status: 404, byFastify: true });
});

it.each([
  ['a key', { state: true, key: false }],
  ['a state', { state: false, key: true }],
])('leaves a request to Fastify while %s is not in memory', async (_, known) => {
  const { get } = await serve({ known });
  expect(await get()).toMatchObject({ status: 200, byFastify: true });
});

it('leaves all requests to Fastify if CORS is configured, which adds headers to each response', async () => {
  const { get } = await serve({ corsOrigins: ['https://explorer.example'] });
  expect(await get()).toMatchObject({ status: 200, byFastify: true });
});

const pipelined = (id: number): string =>
  `GET ${PATH} HTTP/1.1\r\nhost: test\r\nx-api-key: kdp_\r\nx-request-id: r${id}\r\n`;

it('serves pipelined requests in their order, and charges each once', async () => {
  const { port, release, lines } = await serve();
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(`${pipelined(1)}\r\n${pipelined(2)}\r\n${pipelined(3)}connection: close\r\n\r\n`);
  const received = (await buffer(socket)).toString();
  expect(received.match(/x-request-id: r\d/g)).toEqual([1, 2, 3].map((id) => `x-request-id: r${id}`));
  await vi.waitFor(() => expect(release).toHaveBeenCalledTimes(3));
  expect(lines.filter((line) => line.includes('"responded"'))).toHaveLength(3);
});
