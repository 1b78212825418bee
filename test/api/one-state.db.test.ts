/**
 * Invariant 9: one response comes from one state of the chain, while the chain moves; and what the
 * entity tag makes of that.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BLOCKS, CHAIN, readOneState, sinkOf } from './one-state.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
let genesis: string;

beforeAll(async () => {
  harness = await openHarness({ rounds: 100 });
  genesis = (await harness.node.call('getBlockDagInfo', {})).pruningPointHash;
});
afterAll(() => harness.close());

test('invariant 9: every response agrees with the sink that it names, through growth and reorgs', async () => {
  const sinks = new Set<string | null>();
  while (sinks.size < 10) {
    // The indexer applies what is mined here while the requests below are served.
    harness.simulatedDag.mine(4);
    sinks.add(await readOneState(harness.api, genesis));
  }
  await harness.atRest();
});

test('it returns the node’s removed and added chain blocks from every block beside the chain', async () => {
  const beside = await harness.database.kysely
    .selectFrom('blocks')
    .select('hash')
    .where('is_chain_block', '=', false)
    .execute();
  expect(beside.length).toBeGreaterThan(20);
  for (const { hash } of beside) {
    const startHash = hash.toString('hex');
    const request = { startHash, includeAcceptedTransactionIds: true };
    const expected = await harness.node.call('getVirtualChainFromBlock', request);
    const { json } = await harness.api.request(CHAIN, { body: request });
    expect(json).toEqual({
      removedChainBlockHashes: expected.removedChainBlockHashes,
      addedChainBlockHashes: expected.addedChainBlockHashes,
      acceptedTransactionIds: expected.acceptedTransactionIds.map(({ acceptingBlockHash, acceptedTransactionIds }) => ({
        acceptingBlockHash,
        acceptedTransactionIds,
      })),
    });
  }
});

test('it responds 304 without a body until the sink moves', async () => {
  await harness.atRest();
  const path = '/v1/rpc/getCoinSupply';
  const first = await harness.api.request(path);
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^W\/"[\w-]+"$/);
  for (const list of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
    const again = await harness.api.request(path, { headers: { 'if-none-match': list } });
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
    expect(again.headers.get('etag')).toBe(etag);
  }
  expect((await harness.api.request(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);

  harness.simulatedDag.mine(3);
  await harness.atRest();
  const moved = await harness.api.request(path, { headers: { 'if-none-match': etag } });
  expect(moved.status).toBe(200);
  expect(moved.headers.get('etag')).not.toBe(etag);
  expect(sinkOf(moved)).not.toBe(sinkOf(first));
});

const askBlocks = (body: object, etag = '') =>
  harness.api.request(BLOCKS, { body, headers: { 'if-none-match': etag } });

test('it includes the request body in the entity tag', async () => {
  const etag = (await askBlocks({})).headers.get('etag') ?? '';
  expect((await askBlocks({}, etag)).status).toBe(304);
  expect((await askBlocks({ includeBlocks: true }, etag)).status).toBe(200);
});

test('it sends no entity tag with an error', async () => {
  const { status, headers } = await harness.api.request(BLOCKS, { body: { lowHash: 'ab'.repeat(32) } });
  expect(status).toBe(404);
  expect(headers.get('etag')).toBeNull();
});

test('the entity tag of a tag changes with the tag, not only with the sink', async () => {
  const script = await harness.database.kysely
    .selectFrom('scripts')
    .select('address')
    .where('address', 'is not', null)
    .limit(1)
    .executeTakeFirstOrThrow();
  const address = script.address as string;
  const path = `/v1/addresses/${address}/tag`;
  await harness.database.kysely.insertInto('tags').values({ address, name: 'Pool' }).execute();
  const etag = (await harness.api.request(path)).headers.get('etag') ?? '';
  expect((await harness.api.request(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
  await harness.database.kysely.updateTable('tags').set({ name: 'Another pool' }).execute();
  const changed = await harness.api.request(path, { headers: { 'if-none-match': etag } });
  expect({ status: changed.status, json: changed.json }).toMatchObject({
    status: 200,
    json: { tag: { name: 'Another pool' } },
  });
});
