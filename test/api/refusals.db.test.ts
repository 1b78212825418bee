/**
 * Refusals of the API, over HTTP against the real process: to the letter where the specification
 * speaks, in one envelope everywhere.
 */
import { createKey, revokeKey } from '@kasgres/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiRequest } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60 });
});
afterAll(() => harness.close());

const GET_BLOCKS = '/v1/rpc/getBlocks';
const ACCEPTANCE = '/v1/transactions/acceptance';
const ID = 'ab'.repeat(32);
/** A well-formed address of mainnet. */
const FOREIGN = 'kaspa:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula74r2ccn0c';

const refusal = async (path: string, request?: ApiRequest) => {
  const { status, json } = await harness.api.request(path, request);
  return { status, json };
};

describe('keys', () => {
  test('a request without a key gets the specified body', async () => {
    const { status, text } = await harness.api.requestWithoutKey('/v1/rpc/getCurrentNetwork');
    expect(status).toBe(401);
    expect(text).toBe('{"statusCode":401,"message":"x-api-key is missing from header"}');
  });

  test.each(['', 'kdp_', `kdp_${'0'.repeat(64)}`, "' or 1=1 --"])(
    'the invalid key %j gets the specified body',
    async (key) => {
      const { status, text } = await harness.api.request('/v1/rpc/getCurrentNetwork', {
        headers: { 'x-api-key': key },
      });
      expect(status).toBe(401);
      expect(text).toBe('{"statusCode":401,"message":"Invalid API key"}');
    },
  );

  test('the key is checked before the body', async () => {
    const wrongKey = { 'x-api-key': 'wrong' };
    expect((await refusal(GET_BLOCKS, { body: '{', headers: wrongKey })).status).toBe(401);
  });

  test('a revoked key is refused within seconds', async () => {
    const { id, key } = await createKey(harness.database.kysely, { name: 'revoked soon' });
    const request = { headers: { 'x-api-key': key } };
    expect((await harness.api.request('/v1/rpc/getCurrentNetwork', request)).status).toBe(200);
    await revokeKey(harness.database.kysely, id);
    await expect
      .poll(async () => (await harness.api.request('/v1/rpc/getCurrentNetwork', request)).status, { timeout: 4000 })
      .toBe(401);
  });

  test('an expired key is invalid', async () => {
    const { key } = await createKey(harness.database.kysely, {
      name: 'expired',
      expiresAt: new Date(Date.now() - 1000),
    });
    expect((await refusal('/v1/rpc/getCurrentNetwork', { headers: { 'x-api-key': key } })).status).toBe(401);
  });
});

describe('request costs', () => {
  test('are in the response and written to the database; requests refused for their key are free', async () => {
    const { id, key } = await createKey(harness.database.kysely, { name: 'metered' });
    const headers = { 'x-api-key': key };
    const blocks = await harness.api.request(GET_BLOCKS, { body: {}, headers });
    const network = await harness.api.request('/v1/rpc/getCurrentNetwork', { headers });
    const wrong = await harness.api.request('/v1/rpc/getCurrentNetwork', { headers: { 'x-api-key': 'wrong' } });
    const costs = [blocks, network, wrong].map((response) => response.headers.get('x-request-cost-ru'));
    expect(costs).toEqual(['0.5', '0.1', '0']);
    const usage = () =>
      harness.database.kysely.selectFrom('api_key_usage').selectAll().where('api_key_id', '=', id).execute();
    await expect.poll(usage, { timeout: 10_000 }).toMatchObject([{ requests: 2n, ru: '0.6' }]);
  });
});

describe('paths and methods', () => {
  // The last one differs from a path by the character at its dot.
  test.each(['/v1', '/v1/nothing', '/v1/rpc/shutdown', '/v2/rpc/getBlocks', '/openapi-json'])(
    '%s is unknown, with a key or without',
    async (path) => {
      const wanted = {
        status: 404,
        json: { statusCode: 404, message: 'Unknown path: /openapi.json lists those of this API' },
      };
      expect(await refusal(path)).toEqual(wanted);
      expect(await harness.api.requestWithoutKey(path)).toMatchObject(wanted);
    },
  );

  test.each([
    ['GET', GET_BLOCKS, 'POST'],
    ['DELETE', GET_BLOCKS, 'POST'],
    ['POST', '/v1/rpc/getCoinSupply', 'GET, HEAD'],
    ['PUT', `/v1/addresses/${FOREIGN}/tag`, 'GET, HEAD'],
    // Not the look-up of a transaction of that name.
    ['GET', '/v1/transactions/acceptance', 'POST'],
    // A QUERY request has a body by definition; this one has none.
    ['QUERY', '/v1/status', 'GET, HEAD'],
  ])('%s %s is a 405 that names what is allowed', async (method, path, allow) => {
    const { status, json, headers } = await harness.api.request(path, { method });
    expect(status).toBe(405);
    expect(json).toEqual({ statusCode: 405, message: `This path supports ${allow} only` });
    expect(headers.get('allow')).toBe(allow);
  });
});

describe('bodies', () => {
  test.each(['{', 'null x', '{"transactionIds":[}', '"'.repeat(3)])('%j is malformed', async (body) => {
    const { status, json } = await refusal(ACCEPTANCE, { body });
    expect(status).toBe(400);
    expect(json).toMatchObject({ statusCode: 400, message: 'The request is malformed', details: [{ path: '' }] });
  });

  test.each(['[]', 'null', '7', '"text"', 'true'])('%s is not an object', async (body) => {
    const { status, json } = await refusal(ACCEPTANCE, { body });
    expect(status).toBe(400);
    expect(json).toMatchObject({ statusCode: 400, details: [{ path: '' }] });
  });

  test('a body of another type is a 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream', 'nonsense']) {
      expect(await refusal(ACCEPTANCE, { body: '{"transactionIds":[]}', headers: { 'content-type': type } })).toEqual({
        status: 415,
        json: { statusCode: 415, message: 'The body must be application/json' },
      });
    }
  });

  test('a body above 1 MiB is a 413', async () => {
    const body = JSON.stringify({ transactionIds: [], filling: 'x'.repeat(2 ** 20) });
    expect(await refusal(ACCEPTANCE, { body })).toEqual({
      status: 413,
      json: { statusCode: 413, message: 'The body is larger than 1 MiB' },
    });
  });

  test('a missing or empty body is a 400', async () => {
    for (const body of [undefined, '']) {
      const { status, json } = await refusal(ACCEPTANCE, { method: 'POST', ...(body !== undefined && { body }) });
      expect(status).toBe(400);
      expect(json).toMatchObject({ statusCode: 400, details: [{ path: '' }] });
    }
  });

  test('a prototype is not a field', async () => {
    expect((await refusal(ACCEPTANCE, { body: '{"transactionIds":[],"__proto__":{"x":1}}' })).status).toBe(400);
  });
});

/** The paths that a 400 names. */
async function detailsOf(path: string, body?: object): Promise<string[]> {
  const { status, json } = await refusal(path, body && { body });
  expect(status, JSON.stringify(json)).toBe(400);
  return (json['details'] as { path: string }[]).map((detail) => detail.path);
}

const distinctIds = (count: number) => Array.from({ length: count }, (_, id) => id.toString(16).padStart(64, '0'));

describe('fields', () => {
  test('500 ids are accepted, 501 are too many', async () => {
    const { status, json } = await harness.api.request(ACCEPTANCE, { body: { transactionIds: distinctIds(500) } });
    expect(status).toBe(200);
    expect(json['transactions']).toHaveLength(500);
    expect(await detailsOf(ACCEPTANCE, { transactionIds: distinctIds(501) })).toEqual(['transactionIds']);
  });

  test('1,000 scores or addresses are accepted, 1,001 are too many', async () => {
    const scores = '/v1/rpc/getDaaScoreTimestampEstimate';
    const daaScores = Array.from({ length: 1000 }, (_, score) => String(score));
    expect((await harness.api.request(scores, { body: { daaScores } })).status).toBe(200);
    expect(await detailsOf(scores, { daaScores: [...daaScores, '1'] })).toEqual(['daaScores']);
    const addresses = Array.from({ length: 1001 }, () => FOREIGN);
    expect(await detailsOf('/v1/rpc/getMempoolEntriesByAddresses', { addresses })).toEqual(['addresses']);
  });

  test('each invalid hash is named by its index', async () => {
    const transactionIds = [ID, 'ab', `0x${ID}`, '', `${ID}00`, `0X${ID}`, 5, null, ID.replace('a', 'g')];
    expect(await detailsOf(ACCEPTANCE, { transactionIds })).toEqual(
      [1, 3, 4, 5, 6, 7, 8].map((place) => `transactionIds.${place}`),
    );
    expect(await detailsOf(GET_BLOCKS, { lowHash: 'xyz' })).toEqual(['lowHash']);
    expect(
      await detailsOf('/v1/rpc/getVirtualChainFromBlock', { startHash: '', includeAcceptedTransactionIds: true }),
    ).toEqual(['startHash']);
    expect(await detailsOf('/v1/rpc/estimateNetworkHashesPerSecond?startHash=xyz')).toEqual(['startHash']);
    expect(await detailsOf('/v1/rpc/getMempoolEntry', { transactionId: 'xyz' })).toEqual(['transactionId']);
  });

  test('missing and unknown fields are named', async () => {
    expect(await detailsOf('/v1/rpc/getVirtualChainFromBlock', { startHash: ID })).toEqual([
      'includeAcceptedTransactionIds',
    ]);
    expect(await detailsOf(GET_BLOCKS, { includeTransaction: true })).toEqual(['includeTransaction']);
    expect(await detailsOf('/v1/rpc/estimateNetworkHashesPerSecond?window=1000')).toEqual(['window']);
    expect(await detailsOf('/v1/rpc/getBlockTemplate', { extraData: '' })).toEqual(['payAddress']);
  });

  test('a flag must be true or false', async () => {
    expect(await detailsOf(GET_BLOCKS, { includeBlocks: 'true' })).toEqual(['includeBlocks']);
    expect(await detailsOf(GET_BLOCKS, { includeBlocks: 1 })).toEqual(['includeBlocks']);
  });

  test('pairs of flags that the node refuses are refused', async () => {
    expect(await detailsOf(GET_BLOCKS, { includeTransactions: true })).toEqual(['includeTransactions']);
    const flags = { filterTransactionPool: true, includeOrphanPool: false };
    expect(await detailsOf('/v1/rpc/getMempoolEntry', { transactionId: ID, ...flags })).toEqual([
      'filterTransactionPool',
    ]);
    expect(await detailsOf('/v1/rpc/getMempoolEntriesByAddresses', { addresses: [], ...flags })).toEqual([
      'filterTransactionPool',
    ]);
  });

  test('DAA scores must be 64-bit decimal numbers', async () => {
    const daaScores = ['0', '18446744073709551615', '18446744073709551616', '-1', '1.5', '', 'x', 7];
    expect(await detailsOf('/v1/rpc/getDaaScoreTimestampEstimate', { daaScores })).toEqual(
      [2, 3, 4, 5, 6, 7].map((place) => `daaScores.${place}`),
    );
    const body = { daaScores: daaScores.slice(0, 2) };
    expect((await harness.api.request('/v1/rpc/getDaaScoreTimestampEstimate', { body })).status).toBe(200);
  });

  test.each(['0', '999', '10001', '-1', '1000.5', '1e3', '0x3e8', '%201000', 'many', ''])(
    'the window size %j is refused',
    async (windowSize) => {
      expect(await detailsOf(`/v1/rpc/estimateNetworkHashesPerSecond?windowSize=${windowSize}`)).toEqual([
        'windowSize',
      ]);
    },
  );

  test('invalid addresses and those of another network are refused', async () => {
    for (const address of ['kaspasim:', 'kaspasim:qqqq', 'nonsense', FOREIGN, FOREIGN.toUpperCase(), 'x'.repeat(900)]) {
      expect(await detailsOf(`/v1/rpc/getBalanceByAddress/${address}`)).toEqual(['address']);
      expect(await detailsOf(`/v1/addresses/${address}/tag`)).toEqual(['address']);
      expect(await detailsOf('/v1/rpc/getBlockTemplate', { payAddress: address })).toEqual(['payAddress']);
      const addresses = [address];
      expect(await detailsOf('/v1/rpc/getMempoolEntriesByAddresses', { addresses })).toEqual(['addresses.0']);
    }
  });

  test("extra data too long for a coinbase is refused with the node's message", async () => {
    const { address } = await harness.database.kysely
      .selectFrom('scripts')
      .select('address')
      .where('address', 'is not', null)
      .limit(1)
      .executeTakeFirstOrThrow();
    const body = { payAddress: address, extraData: 'x'.repeat(500) };
    const { status, json } = await refusal('/v1/rpc/getBlockTemplate', { body });
    expect(status).toBe(400);
    expect(json['message']).toMatch(/^The node rejected the request: .*payload/i);
  });
});

describe('missing resources', () => {
  test('errors name the sink of the state in which they were found, and others name none', async () => {
    const { json } = await harness.api.request('/v1/rpc/getSink');
    const errorsOf = async (path: string, request?: ApiRequest) => {
      const { status, headers } = await harness.api.request(path, request);
      return { status, sink: headers.get('x-kasgres-sink'), etag: headers.get('etag') };
    };
    const found = { status: 404, sink: (json as { sink: string }).sink, etag: null };
    expect(await errorsOf(GET_BLOCKS, { body: { lowHash: ID } })).toEqual(found);
    expect(await errorsOf(`/v1/transactions/${ID}`)).toEqual(found);
    expect(await errorsOf(`/v1/blocks?starting_after=${ID}`)).toEqual(found);
    expect(await errorsOf('/v1/blocks/nothing')).toEqual({ status: 400, sink: null, etag: null });
    expect(await errorsOf('/v1/rpc/getMempoolEntry', { body: { transactionId: ID } })).toEqual({
      ...found,
      sink: null,
    });
  });

  test('unknown blocks and mempool entries are a 404', async () => {
    const startHash = ID;
    const unknown = { status: 404, json: { statusCode: 404, message: 'Unknown block' } };
    expect(await refusal(GET_BLOCKS, { body: { lowHash: ID } })).toEqual(unknown);
    const body = { startHash, includeAcceptedTransactionIds: false };
    expect(await refusal('/v1/rpc/getVirtualChainFromBlock', { body })).toEqual(unknown);
    expect(await refusal(`/v1/rpc/estimateNetworkHashesPerSecond?startHash=${ID}`)).toEqual(unknown);
    expect(await refusal('/v1/rpc/getMempoolEntry', { body: { transactionId: ID } })).toEqual({
      status: 404,
      json: { statusCode: 404, message: `Transaction ${ID} not found` },
    });
  });

  test('a window with fewer than 1,000 blocks is a 409 that names the number of blocks', async () => {
    const { status, json } = await refusal('/v1/rpc/estimateNetworkHashesPerSecond');
    expect(status).toBe(409);
    expect(json['message']).toMatch(/^Only \d+ blocks are in the past of this block, and 1000 are needed$/);
  });
});
