/**
 * Every endpoint over HTTP against the real process: its response has the form that openapi.json
 * gives it, and makes sense.
 */
import { upsertTags } from '@kasgres/database';
import { insertCluster } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiResponse } from '../support/openapi.ts';
import { faultsOf, operations } from '../support/openapi.ts';
import { APPLICATION_RATE } from '../support/simulated-dag.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
let address: string;

beforeAll(async () => {
  harness = await openHarness({ rounds: 1000, simulation: { applicationRate: APPLICATION_RATE } });
  const richest = await harness.database.kysely
    .selectFrom('balances')
    .innerJoin('scripts', 'scripts.id', 'balances.script_id')
    .select('scripts.address')
    .where('scripts.address', 'is not', null)
    .orderBy('balances.balance', 'desc')
    .executeTakeFirstOrThrow();
  address = richest.address as string;
  await upsertTags(harness.database.pool, [
    { address, name: 'Exchange', link: 'https://example.org', labels: ['exchange'] },
  ]);
});
afterAll(() => harness.close());

const asked = new Set<string>();

/** Asks, and checks the form of the response. */
async function ask(method: 'get' | 'post', template: string, path = template, body?: object): Promise<ApiResponse> {
  asked.add(`${method} ${template}`);
  const response = await harness.api.request(path, body === undefined ? {} : { body });
  expect(faultsOf(method, template, response), `${path}: ${response.text.slice(0, 500)}`).toEqual([]);
  return response;
}

test('getVirtualChainFromBlock leads from genesis to the sink', async () => {
  const { sink, pruningPointHash: genesis } = await harness.node.call('getBlockDagInfo', {});
  const path = '/v1/rpc/getVirtualChainFromBlock';
  const body = { startHash: genesis, includeAcceptedTransactionIds: true };
  const { status, json, headers } = await ask('post', path, path, body);
  expect(status).toBe(200);
  const added = json['addedChainBlockHashes'] as string[];
  expect(added.at(-1)).toBe(sink);
  expect(headers.get('x-kasgres-sink')).toBe(sink);
  const groups = json['acceptedTransactionIds'] as { acceptingBlockHash: string }[];
  expect(groups.map((group) => group.acceptingBlockHash)).toEqual(added);

  const atSink = await ask('post', path, path, { startHash: sink, includeAcceptedTransactionIds: true });
  expect(atSink.json).toEqual({
    removedChainBlockHashes: [],
    addedChainBlockHashes: [],
    acceptedTransactionIds: [],
  });
  const withoutIds = await ask('post', path, path, { startHash: genesis, includeAcceptedTransactionIds: false });
  expect(withoutIds.json).toEqual({ ...json, acceptedTransactionIds: [] });
});

test('it serves what concerns pending transactions', async () => {
  harness.simulatedDag.pay(5);
  const readNewest = async () => (await ask('get', '/v1/mempool')).json['newest'] as { transactionId: string }[];
  await expect.poll(readNewest, { timeout: 10_000 }).not.toEqual([]);
  const [{ transactionId } = { transactionId: '' }] = await readNewest();
  expect((await ask('get', '/v1/mempool/{transactionId}', `/v1/mempool/${transactionId}`)).status).toBe(200);
  const entry = await harness.api.request('/v1/rpc/getMempoolEntry', { body: { transactionId } });
  const { transaction } = entry.json['mempoolEntry'] as { transaction: object };
  const mass = '/v1/transactions/mass';
  expect((await ask('post', mass, mass, { transaction })).status).toBe(200);
});

interface BlockPages {
  pages: number;
  /** JSON without masses, by hash. */
  blocks: Map<string, string>;
}

/** Follows getBlocks from the first indexed block to the sink. */
async function readAllBlocks(): Promise<BlockPages> {
  const path = '/v1/rpc/getBlocks';
  const { sink } = await harness.node.call('getBlockDagInfo', {});
  const blocks = new Map<string, string>();
  let body: object = { includeBlocks: true, includeTransactions: true };
  for (let pages = 1; ; pages += 1) {
    const { status, json } = await harness.api.request(path, { body });
    expect(status, JSON.stringify(json).slice(0, 300)).toBe(200);
    const hashes = json['blockHashes'] as string[];
    for (const [position, block] of (json['blocks'] as object[]).entries())
      blocks.set(
        hashes[position] ?? '',
        JSON.stringify(block, (name, value: unknown) => (name === 'computeMass' ? undefined : value)),
      );
    if (blocks.has(sink)) return { pages, blocks };
    body = { includeBlocks: true, includeTransactions: true, lowHash: hashes.at(-1) };
  }
}

test('getBlocks pages from the first indexed block to the sink, in small parts if transactions are heavy', async () => {
  const { pool } = harness.database;
  const path = '/v1/rpc/getBlocks';
  await ask('post', path, path, { includeBlocks: true, includeTransactions: true });
  const { pages, blocks } = await readAllBlocks();
  const { rows } = await pool.query<{ count: bigint }>('select count(*) from blocks');
  expect(BigInt(blocks.size)).toBe(rows[0]?.count);

  await pool.query('create table masses as select id, compute_mass from transactions');
  await pool.query('update transactions set compute_mass = 300000');
  const heavy = await readAllBlocks();
  await pool.query('update transactions t set compute_mass = m.compute_mass from masses m where m.id = t.id');
  expect(heavy.blocks).toEqual(blocks);
  expect(heavy.pages).toBeGreaterThan(3 * pages);
});

test('an empty lowHash counts as absent, and 0x or upper case make no difference', async () => {
  const path = '/v1/rpc/getBlocks';
  const first = await ask('post', path, path, {});
  expect((await ask('post', path, path, { lowHash: '' })).json).toEqual(first.json);
  const [lowHash = ''] = first.json['blockHashes'] as string[];
  for (const same of [lowHash, lowHash.toUpperCase(), `0x${lowHash}`]) {
    expect((await ask('post', path, path, { lowHash: same })).json).toEqual(first.json);
  }
});

test('it returns mempool entries by id and by address', async () => {
  harness.simulatedDag.pay(5);
  const { entries } = await harness.node.call('getMempoolEntries', {});
  expect(entries.length).toBeGreaterThan(0);
  const one = '/v1/rpc/getMempoolEntry';
  const receivers: string[] = [];
  for (const { transaction } of entries) {
    const transactionId = transaction?.verboseData?.transactionId;
    const { status, json } = await ask('post', one, one, { transactionId });
    expect(status).toBe(200);
    expect(json).toMatchObject({ mempoolEntry: { isOrphan: false, transaction: { verboseData: { transactionId } } } });
    receivers.push(
      ...(transaction?.outputs ?? []).flatMap((output) => output.verboseData?.scriptPublicKeyAddress ?? []),
    );
  }
  const many = '/v1/rpc/getMempoolEntriesByAddresses';
  const { json } = await ask('post', many, many, { addresses: [...new Set(receivers)] });
  expect((json['entries'] as object[]).length).toBe(entries.length);
  expect((await ask('post', many, many, { addresses: [] })).json).toEqual({ entries: [] });
});

test('getBlockTemplate pays the address', async () => {
  const path = '/v1/rpc/getBlockTemplate';
  const { json } = await ask('post', path, path, { payAddress: address, extraData: 'api test' });
  const { header, transactions } = json['block'] as { header: object; transactions: { payload: string }[] };
  expect(header).not.toHaveProperty('hash');
  expect(transactions[0]).toMatchObject({ lockTime: 0, inputs: [] });
  expect(Buffer.from(transactions[0]?.payload.slice(2) ?? '', 'hex').toString('latin1')).toContain('api test');
});

test('it returns acceptance for every id, in the order of the request', async () => {
  const path = '/v1/transactions/acceptance';
  const accepted = await harness.database.kysely
    .selectFrom('transactions')
    .innerJoin('chain_blocks', 'chain_blocks.index', 'transactions.accepting_index')
    .select(['transactions.transaction_id', 'chain_blocks.hash', 'chain_blocks.blue_score'])
    .limit(1)
    .executeTakeFirstOrThrow();
  const id = accepted.transaction_id.toString('hex');
  const unknown = 'ab'.repeat(32);
  const { json } = await ask('post', path, path, { transactionIds: [unknown, `0x${id}`, id.toUpperCase()] });
  const sinkBlueScore = (await harness.node.call('getSinkBlueScore', {})).blueScore;
  const entry = {
    transactionId: id,
    isAccepted: true,
    acceptingBlockHash: accepted.hash.toString('hex'),
    confirmations: Number(sinkBlueScore - accepted.blue_score),
  };
  expect(json).toEqual({
    transactions: [
      { transactionId: unknown, isAccepted: false, acceptingBlockHash: null, confirmations: 0 },
      entry,
      entry,
    ],
  });
});

test('it returns exact times of DAA scores on the chain, and adds a tenth of a second per score above the sink', async () => {
  const path = '/v1/rpc/getDaaScoreTimestampEstimate';
  const chain = await harness.database.kysely.selectFrom('chain_blocks').selectAll().orderBy('index').execute();
  const sink = chain.at(-1);
  if (sink === undefined) throw new Error('there is no chain');
  // Genesis and the block on it share a score, which is that of genesis.
  const some = chain.filter((block) => block.index !== 1n).slice(0, 500);
  const daaScores = [...some.map((block) => block.daa_score), sink.daa_score + 7n].map(String);
  const { json } = await ask('post', path, path, { daaScores });
  expect(json).toEqual({
    timestamps: [...some.map((block) => block.timestamp), sink.timestamp + 700n].map(String),
  });
});

test('it returns the tag of an address, or 404', async () => {
  const template = '/v1/addresses/{address}/tag';
  const { json } = await ask('get', template, `/v1/addresses/${address}/tag`);
  expect(json).toEqual({
    tag: { address, name: 'Exchange', link: 'https://example.org', labels: ['exchange'] },
  });
  const { payload } = await harness.database.kysely
    .selectFrom('scripts')
    .select('address as payload')
    .where('address', '<>', address)
    .limit(1)
    .executeTakeFirstOrThrow();
  const response = await ask('get', template, `/v1/addresses/${payload}/tag`);
  expect(response.status).toBe(404);
  expect(response.json).toEqual({ statusCode: 404, message: 'This address has no tag' });
});

test('it returns the tag of the cluster for an address without a tag', async () => {
  const script = await harness.database.kysely
    .selectFrom('scripts')
    .select(['id', 'address'])
    .where('address', '<>', address)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  await insertCluster(harness.database.pool, [1n, script.id], { name: 'Miner', link: '', labels: [] });
  const { json } = await ask('get', '/v1/addresses/{address}/tag', `/v1/addresses/${script.address}/tag`);
  expect(json).toEqual({ tag: { address: script.address, name: 'Miner', link: '', labels: [] } });
});

test('it returns the hash rate that the node computes', async () => {
  const path = '/v1/rpc/estimateNetworkHashesPerSecond';
  const { sink } = await harness.node.call('getBlockDagInfo', {});
  for (const [query, startHash] of [
    ['', ''],
    [`?windowSize=1000&startHash=${sink}`, sink],
  ] as const) {
    const { networkHashesPerSecond } = await harness.node.call('estimateNetworkHashesPerSecond', {
      windowSize: 1000,
      startHash,
    });
    const { json } = await ask('get', path, path + query);
    expect(json).toEqual({ networkHashesPerSecond: String(networkHashesPerSecond) });
  }
});

test('it returns balance, supply and network', async () => {
  const balance = '/v1/rpc/getBalanceByAddress/{address}';
  const { json } = await ask('get', balance, `/v1/rpc/getBalanceByAddress/${address}`);
  expect(BigInt(json['balance'] as string)).toBeGreaterThan(0n);
  const { rows } = await harness.database.pool.query<{ sum: string }>('select sum(amount)::text as sum from utxos');
  expect((await ask('get', '/v1/rpc/getCoinSupply')).json).toEqual({
    maxSompi: '2900000000000000000',
    circulatingSompi: rows[0]?.sum,
  });
  expect((await ask('get', '/v1/rpc/getCurrentNetwork')).json).toEqual({ network: 'simnet' });
});

test('it returns a zero balance for an unseen address', async () => {
  const stranger = 'kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t';
  const response = await ask('get', '/v1/rpc/getBalanceByAddress/{address}', `/v1/rpc/getBalanceByAddress/${stranger}`);
  expect(response.json).toEqual({ balance: '0' });
});

test('it returns the node’s own information and that of its DAG', async () => {
  for (const name of ['BlockDagInfo', 'BlockCount', 'Sink', 'SinkBlueScore', 'Info', 'ServerInfo', 'FeeEstimate']) {
    expect((await ask('get', `/v1/rpc/get${name}`)).status).toBe(200);
  }
  const path = '/v1/rpc/getSubnetwork';
  expect((await ask('post', path, path, { subnetworkId: '00'.repeat(20) })).status).toBe(400);
  const proof = '/v1/rpc/getSeqCommitLaneProof';
  const { json } = await ask('get', '/v1/rpc/getSink');
  expect((await ask('post', proof, proof, { blockHash: json['sink'], laneKey: '00'.repeat(32) })).status).toBe(400);
});

test('it returns a block and the UTXOs of some addresses at the sink', async () => {
  const { sink } = await harness.node.call('getSink', {});
  const block = '/v1/rpc/getBlock';
  const { json } = await ask('post', block, block, { hash: sink, includeTransactions: true });
  expect(json).toMatchObject({ block: { header: { hash: sink }, verboseData: { isChainBlock: true } } });
  const balances = '/v1/rpc/getBalancesByAddresses';
  const utxos = '/v1/rpc/getUtxosByAddresses';
  const { entries } = (await ask('post', utxos, utxos, { addresses: [address] })).json as {
    entries: { utxoEntry: { amount: string } }[];
  };
  const balance = entries.reduce((sum, { utxoEntry }) => sum + BigInt(utxoEntry.amount), 0n);
  expect((await ask('post', balances, balances, { addresses: [address] })).json).toEqual({
    entries: [{ address, balance: String(balance) }],
  });
});

test('it returns the whole mempool and each of its pools', async () => {
  const path = '/v1/rpc/getMempoolEntries';
  const { json } = await ask('get', path);
  expect((json['entries'] as object[]).length).toBeGreaterThan(0);
  expect((await ask('post', path, path, { includeOrphanPool: false })).json).toEqual(json);
});

test('it submits a transaction and a block', async () => {
  const [entry] = (await ask('get', '/v1/rpc/getMempoolEntries')).json['entries'] as { transaction: object }[];
  const transaction = '/v1/rpc/submitTransaction';
  const rejected = await ask('post', transaction, transaction, { transaction: entry?.transaction });
  expect(rejected.json['message']).toContain('is already in the mempool');
  const block = '/v1/rpc/submitBlock';
  const template = await harness.api.request('/v1/rpc/getBlockTemplate', { body: { payAddress: address } });
  expect((await ask('post', block, block, template.json)).json).toEqual({ rejectReason: 'NONE' });
  await harness.atRest();
});

test('it responds with the status without a key', async () => {
  asked.add('get /v1/status');
  const response = await harness.api.requestWithoutKey('/v1/status');
  expect(faultsOf('get', '/v1/status', response)).toEqual([]);
  const { sink, pruningPointHash } = await harness.node.call('getBlockDagInfo', {});
  expect(response.json).toMatchObject({
    network: 'simnet',
    synced: true,
    sink,
    sinkBlueScore: response.json['nodeSinkBlueScore'],
    lagSeconds: 0,
    firstBlock: pruningPointHash,
    gaps: [],
    nodeConnected: true,
  });
});

/** Separate test files check the contents of their responses. */
test('it serves every listing and every look-up', async () => {
  const { sink } = await harness.node.call('getSink', {});
  const { block } = await harness.node.call('getBlock', { hash: sink, includeTransactions: true });
  const transactionId = block?.transactions[0]?.verboseData?.transactionId ?? '';
  const score = String(block?.header?.daaScore);
  const values: Record<string, string> = { address, hash: sink, transactionId, start: score, end: score };
  const gets = [
    '/v1/transactions',
    '/v1/transactions/{transactionId}',
    '/v1/addresses',
    '/v1/addresses/{address}',
    '/v1/addresses/{address}/transactions',
    '/v1/addresses/{address}/utxos',
    '/v1/addresses/{address}/balance-history',
    '/v1/addresses/{address}/cluster',
    '/v1/blocks',
    '/v1/blocks/{hash}',
    '/v1/blocks/daa-score/{start}/{end}',
    '/v1/tags',
    '/v1/blocks/{hash}/transactions',
    '/v1/dag',
    '/v1/mempool',
    '/v1/miners',
    '/v1/network',
    '/v1/network/distribution',
    '/v1/network/history',
  ];
  for (const template of gets) {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
    expect((await ask('get', template, path)).status, path).toBe(200);
  }
  const path = '/v1/transactions';
  expect((await ask('post', path, path, { transactionIds: [transactionId] })).status).toBe(200);
  expect((await ask('post', '/v1/addresses', '/v1/addresses', { addresses: [address] })).status).toBe(200);
  expect((await ask('get', '/v1/search', `/v1/search?q=${sink}`)).status).toBe(200);
});

test('it serves covenants, programs, lanes and protocols', async () => {
  const { rows } = await harness.database.pool.query<Record<string, string>>(`
    select (select covenant_id from kaspa.covenants limit 1) as "covenantId",
      (select encode(hash, 'hex') from programs limit 1) as program,
      (select encode(template, 'hex') from program_templates limit 1) as template,
      (select namespace from kaspa.lanes limit 1) as namespace`);
  const [values = {}] = rows;
  const gets = {
    '/v1/addresses/{address}/covenants': { address },
    '/v1/covenants': {},
    '/v1/covenants/{covenantId}': values,
    '/v1/covenants/{covenantId}/events': values,
    '/v1/covenants/{covenantId}/utxos': values,
    '/v1/covenant-events': {},
    '/v1/programs/{hash}': { hash: values['program'] },
    '/v1/templates': {},
    '/v1/templates/{hash}': { hash: values['template'] },
    '/v1/templates/{hash}/covenants': { hash: values['template'] },
    '/v1/lanes': {},
    '/v1/lanes/{namespace}': values,
    '/v1/lanes/{namespace}/transactions': values,
    '/v1/inscriptions': {},
    '/v1/network/protocols': {},
  };
  for (const [template, names] of Object.entries<Record<string, string | undefined>>(gets)) {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '');
    expect((await ask('get', template, path)).status, path).toBe(200);
  }
  const covenantIds = [values['covenantId']];
  expect((await ask('post', '/v1/covenants', '/v1/covenants', { covenantIds })).json['covenants']).toHaveLength(1);
});

test('it creates tokens of streams', async () => {
  const path = '/v1/stream/tokens';
  expect((await ask('post', path, path, {})).json['token']).toMatch(/^kst_/);
});

test('it covers every endpoint of openapi.json', () => {
  // Neither streams nor plain text are JSON (stream.db.test.ts, explorer-reads.db.test.ts).
  const others = [
    'get /v1/stream',
    'post /v1/stream',
    'get /v1/ws',
    'get /v1/network/supply/circulating',
    'get /v1/network/supply/max',
  ];
  // Checked by webhooks.db.test.ts.
  others.push(...operations.filter((operation) => operation.includes('/v1/webhooks')));
  expect([...asked, ...others].toSorted()).toEqual(operations.toSorted());
});
