/**
 * Properties of every response: request ids, compression, methods, CORS and the access log; and
 * malformed requests.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { type Program, startApi } from '../support/programs.ts';
import { type Harness, openHarness } from './harness.ts';

interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends bytes that no HTTP library would send, and returns the response after the server closed the
 * connection.
 */
async function sendRaw(url: string, text: string): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  // The server may reset the connection if it refuses a request before its end.
  socket.on('error', () => {});
  socket.write(text);
  await once(socket, 'close');
  return parse(received);
}

function parse(text: string): RawResponse {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [name = '', value = ''] = line.toLowerCase().split(/: */, 2);
    headers[name] = value;
  }
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 200 });
});
afterAll(() => harness.close());

const NETWORK = '/v1/rpc/getCurrentNetwork';
const BLOCKS = '/v1/rpc/getBlocks';
const WHOLE_BLOCKS = { includeBlocks: true, includeTransactions: true };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const raw = (text: string) => sendRaw(harness.api.url, text);

describe('the request id', () => {
  test('it is new in each response of any status', async () => {
    const paths = [
      NETWORK,
      '/v1/status',
      '/v1/nothing',
      '/v1/rpc/%zz',
      BLOCKS,
      `/v1/rpc/getBalanceByAddress/${'x'.repeat(2000)}`,
    ];
    const ids = new Set<string>();
    for (const path of paths) {
      const id = (await harness.api.request(path)).headers.get('x-request-id');
      expect(id, path).toMatch(UUID);
      ids.add(id ?? '');
    }
    expect(ids.size).toBe(paths.length);
  });

  test('it is taken from the client, in the response and in the log', async () => {
    const id = 'my-request_17';
    const { headers } = await harness.api.request(NETWORK, { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toBe(id);
    await expect.poll(() => harness.program.output()).toContain(`"reqId":"${id}"`);
    const unfit = await harness.api.request(NETWORK, { headers: { 'x-request-id': 'my request' } });
    expect(unfit.headers.get('x-request-id')).toMatch(UUID);
  });
});

describe('the access log', () => {
  test('it has the database id of the key, and never the key', async () => {
    await harness.api.request(`${NETWORK}?x-api-key=${harness.api.key}`, { headers: { 'x-request-id': 'key-in-url' } });
    await harness.api.request(`/v1/rpc/%zz${harness.api.key}`, { headers: { 'x-request-id': 'key-in-bad-url' } });
    const lineOf = (id: string) =>
      harness.program
        .output()
        .split('\n')
        .find((line) => line.includes(id));
    await expect.poll(() => lineOf('key-in-url')).toContain(`"url":"${NETWORK}?x-api-key=kdp_[redacted]"`);
    await expect.poll(() => lineOf('key-in-bad-url')).toContain('"url":"/v1/rpc/%zzkdp_[redacted]"');
    expect(lineOf('key-in-url')).toContain('"apiKeyId":"1"');
    expect(harness.program.output()).not.toContain(harness.api.key.slice(4));
  });
});

/** The bytes as they came; fetch would decode them. */
async function bytesOf(encoding: string, path: string, body?: object, more: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    headers: Record<string, unknown>;
    body: Buffer;
  }>();
  const headers = {
    'x-api-key': harness.api.key,
    'accept-encoding': encoding,
    ...(body && { 'content-type': 'application/json' }),
    ...more,
  };
  const sent = request(`${harness.api.url}${path}`, { method: body ? 'POST' : 'GET', headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
    );
  });
  sent.on('error', reject).end(body && JSON.stringify(body));
  return promise;
}

describe('the access log of requests refused without a key', () => {
  test('it has URLs of bounded length, and a bounded number of lines per second', async () => {
    const begun = performance.now();
    const REQUESTS = 300;
    const statuses = await Promise.all(
      Array.from({ length: REQUESTS }, async (_, index) => {
        const query = index % 2 === 0 ? '/' : '?';
        return (await harness.api.requestWithoutKey(`/v1/flood${query}${'x'.repeat(14_000)}`)).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([404]));
    const seconds = Math.ceil((performance.now() - begun) / 1000) + 1;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await harness.api.requestWithoutKey('/v1/nothing');
    await expect.poll(() => harness.program.output()).toMatch(/"omitted":\d+.*omitted log lines/);
    const lines = harness.program.output().split('\n');
    expect(lines.filter((line) => line.includes('/v1/flood')).length).toBeLessThanOrEqual(20 * seconds);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(1000);
  });
});

describe('the page /docs', () => {
  /** Scripts and style sheets, whose names change with their content. */
  let assets: string[];
  let bundle: string;

  beforeAll(async () => {
    const page = (await bytesOf('identity', '/docs')).body.toString();
    assets = [...page.matchAll(/(?:src|href)="(\/docs\/static\/[^"]+)"/g)].map(([, path]) => path as string);
    bundle = assets.find((path) => path.includes('scalar')) as string;
  });

  test.each(['gzip', 'br', 'zstd'])('it is compressed with %s once, and cached', async (encoding) => {
    const first = await bytesOf(encoding, bundle);
    expect(first.status).toBe(200);
    expect(first.headers['content-encoding']).toBe(encoding);
    expect(first.headers['content-type']).toMatch(/javascript/);
    const cpuBefore = await readCpuSeconds();
    const TIMES = 100;
    for (let time = 0; time < TIMES; time += 1) {
      const again = await bytesOf(encoding, bundle);
      expect(again.body.equals(first.body)).toBe(true);
    }
    // Compressing it takes 30 to 120 ms.
    expect(((await readCpuSeconds()) - cpuBefore) / TIMES).toBeLessThan(0.008);
    expect(first.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(String(first.headers['vary']).toLowerCase()).toContain('accept-encoding');
    const known = await bytesOf(encoding, bundle, undefined, { 'if-none-match': String(first.headers['etag']) });
    expect({ status: known.status, bytes: known.body.length }).toEqual({ status: 304, bytes: 0 });
  });

  test('it has the same content in every encoding', async () => {
    const plain = await bytesOf('identity', bundle);
    for (const [encoding, decode] of DECODERS) {
      const packed = await bytesOf(`${encoding};q=0.5, nonsense, other;q=0`, bundle);
      expect(packed.headers['content-encoding']).toBe(encoding);
      expect(packed.headers['etag']).not.toBe(plain.headers['etag']);
      expect(decode(packed.body).equals(plain.body)).toBe(true);
    }
    const refused = await bytesOf('gzip;q=0, br;q=0, zstd;q=0', bundle);
    expect(refused.headers['content-encoding']).toBeUndefined();
    const part = await bytesOf('identity', bundle, undefined, { range: 'bytes=0-9' });
    expect({ status: part.status, bytes: part.body.length }).toEqual({ status: 200, bytes: plain.body.length });
  });

  test('it serves its assets with entity tags, too', async () => {
    expect(assets).toHaveLength(3);
    for (const path of [...assets, '/openapi.json']) {
      const first = await bytesOf('gzip', path);
      expect({ path, status: first.status }).toEqual({ path, status: 200 });
      const again = await bytesOf('gzip', path, undefined, { 'if-none-match': String(first.headers['etag']) });
      expect({ path, status: again.status }).toEqual({ path, status: 304 });
    }
    expect((await bytesOf('gzip', '/docs/static/nothing.js')).status).toBe(404);
  });

  test('it allows its own scripts, and styles with the nonce of this response only', async () => {
    const nonces = new Set<string>();
    for (const path of ['/docs', '/docs/']) {
      const { body, headers } = await bytesOf('identity', path);
      const [, nonce = ''] = /csp-nonce" content="([^"]+)"/.exec(body.toString()) ?? [];
      nonces.add(nonce);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain(`default-src 'none'; script-src 'self'; style-src-elem 'self' 'nonce-${nonce}'; `);
      expect(policy).toContain("connect-src 'self'");
      expect(headers['cache-control']).toBe('no-store');
      expect(body.toString()).not.toMatch(/<script(?![^>]* src="\/docs\/static\/)/);
    }
    expect(nonces.size).toBe(2);
  });
});

const DECODERS: [string, (body: Buffer) => Buffer][] = [
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
];

async function readCpuSeconds(): Promise<number> {
  const text = await (await fetch(await harness.program.metricsUrl())).text();
  return Number(/^process_cpu_seconds_total\S* (\S+)/m.exec(text)?.[1]);
}

describe('compression', () => {
  test.each(DECODERS)(
    '%s gives the same response in fewer bytes, with the same entity tag',
    async (encoding, decode) => {
      await harness.atRest();
      const plain = await bytesOf('identity', BLOCKS, WHOLE_BLOCKS);
      const packed = await bytesOf(encoding, BLOCKS, WHOLE_BLOCKS);
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(packed.headers['content-encoding']).toBe(encoding);
      expect(String(packed.headers['vary']).toLowerCase()).toContain('accept-encoding');
      expect(packed.headers['etag']).toBe(plain.headers['etag']);
      expect(packed.body.length).toBeLessThan(plain.body.length / 2);
      expect(decode(packed.body).equals(plain.body)).toBe(true);
      const again = await bytesOf(encoding, BLOCKS, WHOLE_BLOCKS, { 'if-none-match': String(packed.headers['etag']) });
      expect(again.status).toBe(304);
      expect(again.body).toHaveLength(0);
      expect(again.headers['content-encoding']).toBeUndefined();
      expect(String(again.headers['vary']).toLowerCase()).toContain('accept-encoding');
    },
  );

  test('it leaves a small response uncompressed, with a Vary header', async () => {
    const small = await bytesOf('gzip, br, zstd', NETWORK);
    expect(small.headers['content-encoding']).toBeUndefined();
    expect(String(small.headers['vary']).toLowerCase()).toContain('accept-encoding');
  });

  test('it does not decompress request bodies', async () => {
    const { status } = await harness.api.request(BLOCKS, { body: '{}', headers: { 'content-encoding': 'gzip' } });
    expect(status).toBe(415);
  });
});

describe('if-none-match: *', () => {
  const ID = 'ab'.repeat(32);
  const headers = { 'if-none-match': '*' };

  test.each([
    ['GET', `/v1/transactions/${ID}`, undefined],
    ['GET', `/v1/blocks/${ID}`, undefined],
    ['GET', `/v1/blocks?starting_after=${ID}`, undefined],
    ['GET', `/v1/transactions?starting_after=${ID}`, undefined],
    ['GET', `/v1/rpc/estimateNetworkHashesPerSecond?startHash=${ID}`, undefined],
    ['POST', '/v1/rpc/getBlock', { hash: ID }],
    ['POST', BLOCKS, { lowHash: ID }],
  ])('%s %s stays a 404 if there is none', async (_method, path, body) => {
    const { status, headers: sent } = await harness.api.request(path, { headers, ...(body && { body }) });
    expect({ status, etag: sent.get('etag') }).toEqual({ status: 404, etag: null });
  });

  test('it gets a 304 for an existing resource, and a 400 stays a 400', async () => {
    const { json } = await harness.api.request('/v1/blocks?limit=1');
    const [{ hash }] = json['blocks'] as [{ hash: string }];
    for (const path of [NETWORK, '/v1/rpc/getCoinSupply', '/v1/blocks', `/v1/blocks/${hash}`]) {
      const { status, headers: sent } = await harness.api.request(path, { headers });
      expect({ path, status }).toEqual({ path, status: 304 });
      expect(sent.get('etag')).toMatch(/^W\//);
    }
    const foreign = 'kaspa:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqkx9awp4e';
    expect((await harness.api.request(`/v1/rpc/getBalanceByAddress/${foreign}`, { headers })).status).toBe(400);
  });
});

describe('methods', () => {
  test('HEAD has the headers of GET, and no body', async () => {
    for (const path of [NETWORK, '/v1/status', '/v1/blocks']) {
      const [got, head] = [await harness.api.request(path), await harness.api.request(path, { method: 'HEAD' })];
      expect({ path, status: head.status, text: head.text }).toEqual({ path, status: 200, text: '' });
      for (const name of ['content-type', 'x-request-cost-ru'])
        expect(head.headers.get(name)).toBe(got.headers.get(name));
    }
    const missing = await harness.api.request('/v1/nothing', { method: 'HEAD' });
    expect({ status: missing.status, text: missing.text }).toEqual({ status: 404, text: '' });
  });

  test('OPTIONS is refused on every path unless an origin is allowed', async () => {
    const { status, headers } = await harness.api.request(BLOCKS, { method: 'OPTIONS' });
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('POST');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('queries and bodies', () => {
  test('it refuses a repeated parameter', async () => {
    const { status, json } = await harness.api.request('/v1/blocks?limit=1&limit=2');
    expect(status).toBe(400);
    expect(json['details']).toMatchObject([{ path: 'limit' }]);
  });

  test('it treats a prototype in the query as an unknown field', async () => {
    expect((await harness.api.request('/v1/blocks?__proto__=1&constructor=2')).status).toBe(400);
  });

  test('a GET with a body gets the same response as one without', async () => {
    const response = await raw(
      `GET ${NETWORK} HTTP/1.1\r\nhost: x\r\nx-api-key: ${harness.api.key}\r\nconnection: close\r\n` +
        'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
    );
    expect(response.status).toBe(200);
  });
});

describe('malformed HTTP', () => {
  const POST = `POST ${BLOCKS} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`;
  test.each([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['an unknown method', `BREW ${NETWORK} HTTP/1.1\r\nhost: x\r\n\r\n`, 400],
    ['a length that is no number', `${POST}content-length: two\r\n\r\n{}`, 400],
    ['two lengths', `${POST}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 400],
    ['a length and chunks', `${POST}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`, 400],
    ['headers without end', `${POST}filling: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a URL without end', `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
  ])('%s is refused in the envelope', async (_name, text, wanted) => {
    const { status, headers, body } = await raw(text);
    expect(status).toBe(wanted);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['x-request-id']).toMatch(UUID);
    expect(headers['x-request-cost-ru']).toBe('0');
    expect(JSON.parse(body)).toMatchObject({ statusCode: wanted, ...(wanted === 400 && { details: [{ path: '' }] }) });
  });

  test('it times out a request that never ends', async () => {
    const begun = performance.now();
    const slowHead = raw(`GET ${NETWORK} HTTP/1.1\r\nhost: x\r\n`);
    const slowBody = raw(
      `POST ${BLOCKS} HTTP/1.1\r\nhost: x\r\nx-api-key: ${harness.api.key}\r\n` +
        'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"lowHash":',
    );
    expect((await slowHead).status).toBe(408);
    expect((await slowBody).status).toBe(408);
    expect(performance.now() - begun).toBeLessThan(16_000);
  });
});

describe('CORS', () => {
  const ALLOWED = 'https://explorer.example';
  let program: Program;
  let api: ApiClient;

  beforeAll(async () => {
    const env = { nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url };
    const origins = `${ALLOWED}, http://localhost:8080, http://127.0.0.1:*, https://[::1]:*`;
    const started = await startApi(env, undefined, { CORS_ORIGINS: origins });
    program = started.program;
    api = new ApiClient(started.url, harness.api.key);
  });
  afterAll(() => program.stop());

  const preflight = (origin: string) =>
    fetch(`${api.url}${BLOCKS}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    });

  test('it allows preflight requests without a key from allowed origins', async () => {
    const { status, headers } = await preflight(ALLOWED);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PATCH, DELETE');
    expect(headers.get('access-control-allow-headers')).toContain('x-api-key, content-type, if-none-match');
    expect(headers.get('access-control-allow-headers')).toContain('access-control-allow-origin, cache-control');
    expect(headers.get('vary')?.toLowerCase()).toContain('origin');
    expect((await preflight('https://elsewhere.example')).headers.get('access-control-allow-origin')).toBeNull();
  });

  test.each([
    ['http://localhost:8080', true],
    ['http://localhost:8081', false],
    ['http://127.0.0.1', true],
    ['http://127.0.0.1:5173', true],
    ['https://127.0.0.1:5173', false],
    ['https://[::1]:8443', true],
    ['http://127.0.0.1:5173.evil.example', false],
    ['http://127.0.0.1.evil.example:80', false],
    ['http://evil.example/http://127.0.0.1:80', false],
    ['null', false],
  ])('%s is allowed: %s', async (origin, isAllowed) => {
    const { headers } = await preflight(origin);
    expect(headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null);
  });

  test('it exposes all headers of responses and errors', async () => {
    for (const path of [NETWORK, '/v1/nothing', BLOCKS]) {
      const { headers } = await api.request(path, { headers: { origin: ALLOWED } });
      expect(headers.get('access-control-allow-origin'), path).toBe(ALLOWED);
      expect(headers.get('vary')?.toLowerCase(), path).toBe('accept-encoding, origin');
      const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
      for (const name of headers.keys()) {
        if (/^(x-|ratelimit|retry|etag|allow$)/.test(name)) expect(exposed).toContain(name);
      }
    }
    const { headers } = await api.request('/rest/info/coinsupply', { headers: { origin: ALLOWED } });
    expect(headers.get('access-control-expose-headers')).toContain(
      'x-next-page-after, x-next-page-before, x-page-count',
    );
    const foreign = await api.request(NETWORK, { headers: { origin: 'https://elsewhere.example' } });
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('an OPTIONS request without an origin is not an error', async () => {
    expect((await fetch(`${api.url}${BLOCKS}`, { method: 'OPTIONS' })).status).toBe(204);
  });
});

test('a connection without a request does not delay the shutdown', async () => {
  const { database, simulatedDag } = harness;
  const { program, url } = await startApi({ nodeUrl: simulatedDag.server.url, databaseUrl: database.url });
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const startedAt = performance.now();
  await program.stop();
  // The deadline of a shutdown is 25 seconds.
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  socket.destroy();
});
