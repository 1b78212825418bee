/**
 * The responses of the API while the first catch-up runs, and for what was before the index. The
 * indexer is stopped, and its checkpoint set.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { type Program, startApi } from '../support/programs.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
let address: string;
let genesis: string;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60 });
  await harness.indexer.stop();
  const script = await harness.database.kysely
    .selectFrom('scripts')
    .select('address')
    .where('address', 'is not', null)
    .limit(1)
    .executeTakeFirstOrThrow();
  address = script.address as string;
  genesis = (await harness.node.call('getBlockDagInfo', {})).pruningPointHash;
});
afterAll(() => harness.close());

describe('during the first catch-up', () => {
  let api: ApiClient;
  let program: Program;

  beforeAll(async () => {
    await harness.database.kysely
      .updateTable('checkpoint')
      .set({ first_catch_up: true, target_blue_score: 5000n, seconds_left: 42, version: sql`version + 1` })
      .execute();
    // An API that has seen the end of the first catch-up never expects another one.
    const { url: databaseUrl } = harness.database;
    const started = await startApi({ nodeUrl: harness.simulatedDag.server.url, databaseUrl });
    program = started.program;
    api = new ApiClient(started.url, harness.api.key);
  });
  afterAll(async () => {
    await program.stop();
    await harness.database.kysely.updateTable('checkpoint').set({ first_catch_up: false }).execute();
  });

  test('it responds 503 with progress and remaining time for what needs complete state', async () => {
    const above = String(10 ** 6);
    const requests: [string, object?][] = [
      [`/v1/rpc/getBalanceByAddress/${address}`],
      ['/v1/rpc/getCoinSupply'],
      ['/v1/transactions/acceptance', { transactionIds: [] }],
      ['/v1/transactions'],
      ['/v1/transactions', { transactionIds: [] }],
      [`/v1/transactions/${genesis}`],
      [`/v1/addresses/${address}/transactions`],
      [`/v1/addresses/${address}/tag`],
      ['/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: [above] }],
      ['/v1/addresses'],
      [`/v1/addresses/${address}`],
      [`/v1/addresses/${address}/utxos`],
      [`/v1/addresses/${address}/balance-history`],
      [`/v1/addresses/${address}/cluster`],
      ['/v1/blocks/daa-score/0/10'],
    ];
    for (const [path, body] of requests) {
      const { status, json, headers } = await api.request(path, body && { body });
      expect(status, path).toBe(503);
      expect(json['message']).toMatch(
        /^The first catch-up has not finished: it is at blue score \d+ of 5000, about 42 seconds left$/,
      );
      expect(headers.get('retry-after')).toBe('42');
    }
  });

  test('it serves blocks, the chain, its times and its network', async () => {
    const requests: [string, object?][] = [
      ['/v1/rpc/getBlocks', { includeBlocks: true, includeTransactions: true }],
      ['/v1/rpc/getVirtualChainFromBlock', { startHash: genesis, includeAcceptedTransactionIds: true }],
      ['/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: ['0', '3'] }],
      ['/v1/rpc/getCurrentNetwork'],
      ['/v1/blocks'],
      ['/v1/blocks?chain_only=true'],
      [`/v1/blocks/${genesis}?include_transactions=true`],
      ['/v1/tags'],
    ];
    for (const [path, body] of requests) {
      expect((await api.request(path, body && { body })).status, path).toBe(200);
    }
  });

  test('it returns the tag of an address', async () => {
    await harness.database.kysely.insertInto('tags').values({ address, name: 'Pool' }).execute();
    expect((await api.request(`/v1/addresses/${address}/tag`)).status).toBe(200);
  });

  test('it sends activity of an address without balances, which are not kept', async () => {
    const path = `/v1/stream?events=address,chain&address=${address}&from=${genesis}`;
    const { stream, close } = await api.openStream(path);
    const text = await stream.until(/"isCaughtUp":true/);
    close();
    expect(text).toContain('"status":"accepted"');
    expect(new Set(text.match(/"balance":[^}]*/g))).toEqual(new Set(['"balance":null']));
  });

  test('it refuses to watch covenants, whose events are not kept, also for a webhook that there is', async () => {
    const covenants = ['ab'.repeat(32)];
    expect((await api.post('/v1/stream', { covenants })).status).toBe(503);
    const { json } = await harness.api.post('/v1/webhooks', { url: 'https://example.org/' });
    const options = { method: 'PATCH', body: { covenants } };
    expect((await api.request(`/v1/webhooks/${String(json['id'])}`, options)).status).toBe(503);
  });

  test('it reports synced: false', async () => {
    expect((await api.request('/v1/status')).json).toMatchObject({ synced: false });
  });
});

test('it reports synced: false while indexes are being built', async () => {
  const status = async () => (await harness.api.request('/v1/status')).json['synced'];
  expect(await status()).toBe(true);
  await harness.database.kysely
    .insertInto('deferred_indexes')
    .values({ name: 'utxos_script_id', definition: '' })
    .execute();
  expect(await status()).toBe(false);
  await harness.database.kysely.deleteFrom('deferred_indexes').execute();
});

test('it reports a gap in the status', async () => {
  const hash = Buffer.alloc(32, 7);
  await harness.database.kysely
    .insertInto('gaps')
    .values({ after_block_hash: hash, before_block_hash: hash, reason: 'pruned' })
    .execute();
  const hex = hash.toString('hex');
  expect((await harness.api.request('/v1/status')).json).toMatchObject({
    gaps: [{ afterBlock: hex, beforeBlock: hex, reason: 'pruned' }],
  });
});

test('it responds 409 with the first indexed block for a known block before the index', async () => {
  const hash = await cutOff(harness);
  const wanted = {
    status: 409,
    json: { statusCode: 409, message: `The block is before the first indexed block, ${genesis}` },
  };
  const requests: [string, object?][] = [
    ['/v1/rpc/getVirtualChainFromBlock', { startHash: hash, includeAcceptedTransactionIds: true }],
    ['/v1/rpc/getBlocks', { lowHash: hash }],
    [`/v1/rpc/estimateNetworkHashesPerSecond?startHash=${hash}`],
  ];
  for (const [path, body] of requests) {
    const { status, json } = await harness.api.request(path, body && { body });
    expect({ status, json }, path).toEqual(wanted);
  }
});

/**
 * A block beside the chain loses its selected parent, as those have whose past is before the index.
 */
async function cutOff({ database }: Harness): Promise<string> {
  const { id, hash } = await database.kysely
    .selectFrom('blocks')
    .select(['id', 'hash'])
    .where('is_chain_block', '=', false)
    .limit(1)
    .executeTakeFirstOrThrow();
  await database.kysely.updateTable('blocks').set({ selected_parent_id: null }).where('id', '=', id).execute();
  return hash.toString('hex');
}
