/**
 * The endpoints under /v1/rpc beyond the twelve, over HTTP against the real process: each is the
 * node's own response.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { compareBalancesTogether, compareUtxos, readUtxoState } from '../support/compare/utxos.ts';
import { compareCalls, comparePools, compareStates } from '../support/compare/calls.ts';
import { faultsOf } from '../support/openapi.ts';
import { openHarness, type Harness } from './harness.ts';

const GET_BLOCK = '/v1/rpc/getBlock';
const BALANCES = '/v1/rpc/getBalancesByAddresses';
const UTXOS = '/v1/rpc/getUtxosByAddresses';
const ID = 'ab'.repeat(32);
const STRANGER = 'kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t';
/** A well-formed address of mainnet. */
const FOREIGN = 'kaspa:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula74r2ccn0c';

let harness: Harness;
let api: ApiClient;
let addresses: string[];

beforeAll(async () => {
  harness = await openHarness({ rounds: 300 });
  ({ api } = harness);
  const rows = await harness.database.kysely
    .selectFrom('scripts')
    .select('address')
    .where('address', 'is not', null)
    .orderBy('id')
    .execute();
  addresses = rows.map(({ address }) => address as string);
});
afterAll(() => harness.close());

async function ask(path: string, body?: object) {
  const response = await harness.api.request(path, body && { body });
  expect(
    faultsOf(body === undefined ? 'get' : 'post', path, response),
    `${path}: ${response.text.slice(0, 300)}`,
  ).toEqual([]);
  return response;
}

const detailsOf = (json: Record<string, unknown>) => json['details'] as { path: string; message: string }[];

describe('getBlock', () => {
  test('responds like the node for every block, with transactions and without', async () => {
    const rows = await harness.database.kysely.selectFrom('blocks').select('hash').execute();
    expect(rows.length).toBeGreaterThan(300);
    const requests = rows.flatMap(({ hash }) =>
      [false, true].map((includeTransactions) => ({ hash: hash.toString('hex'), includeTransactions })),
    );
    expect(await compareCalls({ node: harness.node, api }, 'getBlock', requests)).toEqual([]);
  });

  test('omits transactions unless requested, and accepts any form of a hash', async () => {
    const { sink } = await harness.node.call('getSink', {});
    const plain = await ask(GET_BLOCK, { hash: sink });
    expect(plain.json['block']).not.toHaveProperty('transactions');
    for (const hash of [sink.toUpperCase(), `0x${sink}`])
      expect((await ask(GET_BLOCK, { hash })).json).toEqual(plain.json);
  });

  test('responds 404 to an unknown block, and 400 without a hash', async () => {
    const { status, json } = await ask(GET_BLOCK, { hash: ID });
    expect({ status, json }).toEqual({ status: 404, json: { statusCode: 404, message: 'Unknown block' } });
    for (const hash of ['', 'ab', null, 7]) {
      const refused = await ask(GET_BLOCK, { hash });
      expect(refused.status).toBe(400);
      expect(detailsOf(refused.json).map(({ path }) => path)).toEqual(['hash']);
    }
  });
});

test('requests without parameters respond like the node', async () => {
  expect(await compareStates({ node: harness.node, api })).toEqual([]);
  const operations = ['BlockDagInfo', 'BlockCount', 'Sink', 'SinkBlueScore', 'Info', 'ServerInfo', 'FeeEstimate'];
  for (const name of operations) expect((await ask(`/v1/rpc/get${name}`)).status).toBe(200);
});

test('getSubnetwork, which the node does not implement, is refused with its message', async () => {
  const { status, json } = await ask('/v1/rpc/getSubnetwork', { subnetworkId: '00'.repeat(20) });
  expect(status).toBe(400);
  expect(json['message']).toBe('The node rejected the request: Not implemented');
  const malformed = await ask('/v1/rpc/getSubnetwork', { subnetworkId: ID });
  expect(detailsOf(malformed.json)[0]?.path).toBe('subnetworkId');
});

test('getMempoolEntries returns each pool', async () => {
  harness.simulatedDag.pay(8);
  expect((await harness.node.call('getMempoolEntries', {})).entries.length).toBeGreaterThan(0);
  expect(await comparePools({ node: harness.node, api })).toEqual([]);
  expect((await ask('/v1/rpc/getMempoolEntries')).json).toEqual((await ask('/v1/rpc/getMempoolEntries', {})).json);
});

describe('getUtxosByAddresses', () => {
  test('returns the UTXOs that the node has once its virtual block is the sink', async () => {
    const before = await readUtxoState(harness.node, addresses, { isSupplyExact: false });
    expect([...before.utxos.values()].flat().length).toBeGreaterThan(100);
    // The block of the template merges what the virtual block would have merged.
    const template = await harness.api.request('/v1/rpc/getBlockTemplate', { body: { payAddress: addresses[0] } });
    expect((await harness.api.request('/v1/rpc/submitBlock', { body: template.text })).status).toBe(200);
    await harness.atRest();
    expect(await compareBalancesTogether(api, before)).toEqual([]);
    expect(await compareUtxos(api, before)).toEqual([]);
  });

  test('has a balance for each address in the order of the request, and no UTXOs for an unseen one', async () => {
    const [first = '', second = ''] = addresses;
    const { json } = await ask(BALANCES, { addresses: [second, STRANGER, first, second] });
    const entries = json['entries'] as { address: string; balance: string }[];
    expect(entries.map(({ address }) => address)).toEqual([second, STRANGER, first, second]);
    expect(entries[1]).toEqual({ address: STRANGER, balance: '0' });
    const utxos = await ask(UTXOS, { addresses: [second, STRANGER, first, second] });
    const sumOf = (address: string) =>
      (utxos.json['entries'] as { address: string; utxoEntry: { amount: string } }[])
        .filter((entry) => entry.address === address)
        .reduce((sum, { utxoEntry }) => sum + BigInt(utxoEntry.amount), 0n);
    for (const { address, balance } of entries) expect(String(sumOf(address))).toBe(balance);
    for (const path of [BALANCES, UTXOS]) expect((await ask(path, { addresses: [] })).json).toEqual({ entries: [] });
  });

  test('names the index of invalid addresses, of those of another network, and of those beyond the limit', async () => {
    const [first = ''] = addresses;
    for (const path of [BALANCES, UTXOS]) {
      const pathsOf = async (body: object) => detailsOf((await ask(path, body)).json).map((detail) => detail.path);
      expect(await pathsOf({ addresses: [first, first, first, FOREIGN] })).toEqual(['addresses.3']);
      expect(await pathsOf({ addresses: ['kaspasim:', first, 'nonsense', 7] })).toEqual(
        [0, 2, 3].map((at) => `addresses.${at}`),
      );
      expect(await pathsOf({ addresses: Array.from({ length: 1001 }, () => first) })).toEqual(['addresses']);
      expect(await pathsOf({})).toEqual(['addresses']);
      expect((await ask(path, { addresses: Array.from({ length: 1000 }, () => first) })).status).toBe(200);
    }
  });

  test('refuses more than 10,000 UTXOs, and names the paginated listing', async () => {
    const { kysely } = harness.database;
    const { rows } = await sql<{ script_id: bigint; address: string; utxos: number }>`
      select u.script_id, s.address, count(*)::int as utxos from utxos u
        join scripts s on s.id = u.script_id
      where s.address is not null group by 1, 2 order by 3 desc limit 1`.execute(kysely);
    const [{ script_id, address, utxos } = { script_id: 0n, address: '', utxos: 0 }] = rows;
    const copies = (count: number) => sql`
      insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
      select transaction_id, 1000000 + n, script_id, 1, 1, false
      from (select * from utxos where script_id = ${script_id} order by transaction_id, index
        limit 1) one,
        generate_series(1, ${count}::int) n`;
    const outputs = sql`
      insert into transaction_outputs (transaction_id, index, amount, script_id)
      select transaction_id, index, amount, script_id from utxos where index > 1000000`;
    const asked = async () => {
      const { status, json } = await ask(UTXOS, { addresses: [STRANGER, address] });
      return { status, json };
    };
    await copies(10_000 - utxos).execute(kysely);
    await outputs.execute(kysely);
    try {
      const { status, json } = await asked();
      expect(status, JSON.stringify(json).slice(0, 300)).toBe(200);
      expect(json['entries']).toHaveLength(10_000);
      await sql`update utxos set script_id = ${script_id} where (transaction_id, index) =
        (select transaction_id, index from utxos where script_id <> ${script_id}
          limit 1)`.execute(kysely);
      const refused = await asked();
      expect(refused.status).toBe(400);
      const [detail] = detailsOf(refused.json);
      expect(detail?.path).toBe('addresses');
      expect(detail?.message).toContain('GET /v1/addresses/{address}/utxos');
    } finally {
      await sql`delete from utxos where index > 1000000`.execute(kysely);
      await sql`delete from transaction_outputs where index > 1000000`.execute(kysely);
      await sql`update utxos u set script_id = o.script_id from transaction_outputs o
        where o.transaction_id = u.transaction_id and o.index = u.index
          and o.script_id <> u.script_id`.execute(kysely);
    }
  });
});

describe('an unchanged response', () => {
  test('is a 304 until the sink moves', async () => {
    const [first = ''] = addresses;
    const { sink } = await harness.node.call('getSink', {});
    const requests: [string, object?][] = [
      ['/v1/rpc/getSink'],
      ['/v1/rpc/getSinkBlueScore'],
      [BALANCES, { addresses: [first] }],
      [UTXOS, { addresses: [first] }],
    ];
    const etags: string[] = [];
    for (const [path, body] of requests) {
      const { headers } = await ask(path, body);
      expect(headers.get('x-kasgres-sink')).toBe(sink);
      const etag = headers.get('etag') ?? '';
      etags.push(etag);
      const again = await harness.api.request(path, { headers: { 'if-none-match': etag }, ...(body && { body }) });
      expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
    }
    expect(new Set(etags).size).toBe(requests.length);
    // A mined block may compete with the sink instead of replacing it.
    do harness.simulatedDag.mine(1);
    while ((await harness.node.call('getSink', {})).sink === sink);
    await harness.atRest();
    for (const [place, [path, body]] of requests.entries()) {
      const headers = { 'if-none-match': etags[place] ?? '' };
      expect((await harness.api.request(path, { headers, ...(body && { body }) })).status, path).toBe(200);
    }
  });

  test('for a block is a 304 beyond the sink while the block does not change', async () => {
    const { pruningPointHash: hash } = await harness.node.call('getBlockDagInfo', {});
    const { headers } = await ask(GET_BLOCK, { hash, includeTransactions: true });
    const etag = headers.get('etag') ?? '';
    harness.simulatedDag.mine(1);
    await harness.atRest();
    const asked = { headers: { 'if-none-match': etag }, body: { hash, includeTransactions: true } };
    expect((await harness.api.request(GET_BLOCK, asked)).status).toBe(304);

    const { sink } = await harness.node.call('getSink', {});
    const before = await ask(GET_BLOCK, { hash: sink });
    const childrenOf = async (hash: string) =>
      (await harness.node.call('getBlock', { hash, includeTransactions: false })).block?.verboseData?.childrenHashes;
    // A miner who does not know it yet mines beside it.
    while ((await childrenOf(sink))?.length === 0) harness.simulatedDag.mine(1);
    await harness.atRest();
    const changed = { headers: { 'if-none-match': before.headers.get('etag') ?? '' }, body: { hash: sink } };
    expect((await harness.api.request(GET_BLOCK, changed)).status).toBe(200);
  });
});
