/**
 * The examples in openapi.json are true: each request is sent again to the real API over the same
 * simulated chain, and its response must be what the document shows. `npm run generate:examples`
 * rewrites them.
 */
import { createKey, upsertTags } from '@kasgres/database';
import { type ExampleChain, type ExampleRequest, exampleRequests, generateDocument } from '@kasgres/api';
import { toHex } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toMempoolEntry } from '../../packages/api/src/resources/mempool/to-mempool-entry.ts';
import { openHarness, type Harness } from '../api/harness.ts';
import { cluster } from '../simulation/clusters-harness.ts';
import { ApiClient } from '../support/api-client.ts';
import type { ApiResponse } from '../support/openapi.ts';
import { APPLICATION_RATE, SimulatedDag } from '../support/simulated-dag.ts';

const FILE = '../../packages/api/src/generated/examples.json';
/** Enough for the hash rate, whose window is 1,000 blocks. */
const ROUNDS = 1000;
const SEED = 'api';
const SIMULATION = { applicationRate: APPLICATION_RATE };
/** The clustering depth of the network. */
const CLUSTER_DEPTH = 100n;
/** kaspad 2.1 does not implement the former operation, and the simulated node not the latter. */
const UNIMPLEMENTED = new Set(['getSubnetwork', 'getSeqCommitLaneProof']);

interface Example extends ExampleRequest {
  /** Omitted if no request gets a response. */
  response?: unknown;
}

interface Document {
  paths: Record<string, Record<string, { operationId: string }>>;
}

const { paths } = (await generateDocument()) as Document;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({ operationId, method, path })),
);

let harness: Harness;
let chain: ExampleChain;

beforeAll(async () => {
  // While it mines, connections to the node would get no response.
  const payment = await nextPayment();
  harness = await openHarness({ rounds: ROUNDS, seed: SEED, simulation: SIMULATION });
  chain = { ...(await prepareChain()), payment };
});
afterAll(() => harness.close());

/**
 * Puts two payments into the mempool of a stopped index, so that nothing changes, and chooses the
 * items of the examples.
 */
async function prepareChain(): Promise<Omit<ExampleChain, 'payment'>> {
  await harness.indexer.stop();
  harness.simulatedDag.pay(2);
  const [entry] = harness.simulatedDag.node.mempool.ready();
  const { entries } = await harness.node.call('getMempoolEntries', {});
  const mempoolAddress = entries[0]?.transaction?.outputs[0]?.verboseData?.scriptPublicKeyAddress;
  if (entry === undefined || mempoolAddress === undefined) throw new Error('the mempool is empty');
  await cluster(harness.database, { depth: CLUSTER_DEPTH });
  const { address } = await findOne<{ address: string }>(
    'address with a small history',
    `select s.address from scripts s join balances b on b.script_id = s.id
     where s.address is not null and b.balance > 0 and b.utxo_count between 2 and 3
       and b.transaction_count >= 5
     order by b.transaction_count, s.address limit 1`,
  );
  const members = await findOne<{ member: string; otherMember: string }>(
    'cluster with three or four members',
    `select last.address as member, root.address as "otherMember"
     from clusters c
       join cluster_members m on m.script_id = c.id
       join scripts root on root.id = c.id
       join scripts last on last.id = m.previous_id
     where c.size between 3 and 4
     order by root.address limit 1`,
  );
  await upsertTags(harness.database.pool, [
    { address, name: 'Harbour Exchange', link: 'https://example.com/harbour-exchange', labels: ['exchange'] },
    { address: members.otherMember, name: 'Lighthouse Pool', link: '', labels: ['pool'] },
  ]);
  const accepted = await findOne<Pick<ExampleChain, 'transactionId' | 'blockHash' | 'sink' | 'daaScore'>>(
    'payment that the block accepts',
    `select encode(t.transaction_id, 'hex') as "transactionId", encode(b.hash, 'hex') as "blockHash",
       encode(sink.hash, 'hex') as sink, b.daa_score as "daaScore"
     from chain_blocks c
       join blocks b on b.id = c.block_id
       join checkpoint p on c.index = p.chain_index - 2
       join blocks sink on sink.id = p.block_id
       join transactions t on t.accepting_index = c.index
     where t.subnetwork_id <> 1
     order by cardinality(b.merge_set_blues), t.transaction_id limit 1`,
  );
  return {
    address,
    taggedAddress: address,
    ...members,
    ...accepted,
    unknownTransactionId: 'ab'.repeat(32),
    early: await findOne(
      'eleventh chain block',
      `select encode(b.hash, 'hex') as "blockHash", b.daa_score::text as "daaScore"
       from chain_blocks c join blocks b on b.id = c.block_id where c.index = 10`,
    ),
    ...(await findOne<{ namespace: string }>(
      'lane',
      `select encode(substring(s.subnetwork_id for 4), 'hex') as namespace
       from lanes l join subnetworks s on s.id = l.subnetwork_id
         order by l.transaction_count desc, s.subnetwork_id limit 1`,
    )),
    ...(await findOne<Pick<ExampleChain, 'covenantId' | 'covenantAddress' | 'programHash' | 'template'>>(
      'covenant with a program',
      `select encode(c.covenant_id, 'hex') as "covenantId", s.address as "covenantAddress",
         (select encode(hash, 'hex') from programs where template_id = c.template_id
           order by length, hash limit 1) as "programHash",
         encode(t.template, 'hex') as template
       from covenants c
         join program_templates t on t.id = c.template_id
         join utxos u on u.covenant_id = c.covenant_id
         join scripts s on s.id = u.script_id
       where s.address is not null
       order by c.event_count between 2 and 9 desc, c.covenant_id limit 1`,
    )),
    mempoolTransactionId: toHex(entry.transaction.transactionId),
    mempoolAddress,
  };
}

async function findOne<T extends object>(wanted: string, sql: string): Promise<T> {
  const { rows } = await harness.database.pool.query<T>(sql);
  if (rows[0] === undefined) throw new Error(`the chain has no ${wanted}`);
  return rows[0];
}

/**
 * Returns the third payment of an identical network, without the fields that a node derives; the
 * harness makes the first two.
 */
async function nextPayment(): Promise<object> {
  const twin = await SimulatedDag.start(SEED, undefined, undefined, SIMULATION);
  const node = new NodeClient({ url: twin.server.url });
  try {
    twin.mine(ROUNDS);
    twin.pay(3);
    const last = [...twin.node.mempool.ready()].at(-1);
    if (last === undefined) throw new Error('the network makes no payment');
    const { entry } = await node.call('getMempoolEntry', { txId: toHex(last.transaction.transactionId) });
    if (entry === undefined) throw new Error('the payment is not in the mempool');
    const { transaction } = toMempoolEntry(entry);
    const json = JSON.stringify(transaction, (key, part: unknown) => (key === 'verboseData' ? undefined : part));
    return JSON.parse(json) as object;
  } finally {
    await node.close();
    twin.stop();
  }
}

/** Sends an example as a client would. */
async function ask(operationId: string, { path = {}, query = {}, body }: ExampleRequest): Promise<ApiResponse> {
  const operation = operations.find((known) => known.operationId === operationId);
  if (operation === undefined) throw new Error(`there is no operation ${operationId}`);
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '');
  const parameters = new URLSearchParams(query as Record<string, string>).toString();
  const url = parameters === '' ? filled : `${filled}?${parameters}`;
  return await harness.api.request(url, { method: operation.method.toUpperCase(), body });
}

test('every operation has an example', () => {
  // Streams do not end, and tokens are new each time (docs/stream.md).
  const names = operations.map(({ operationId }) => operationId).filter((name) => !/stream|websocket/i.test(name));
  expect(Object.keys(exampleRequests(chain)).toSorted()).toEqual(names.toSorted());
});

/** The mempool is sampled by the clock of the machine, and webhooks have random secrets. */
const withFixedValues = (json: object): unknown =>
  JSON.parse(
    JSON.stringify(json)
      .replaceAll(/"(timestamp|seenAt|createdAt)":17[6-9]\d{10}/g, '"$1":1750540000000')
      .replaceAll(/"whsec_[^"]+"/g, `"whsec_${Buffer.alloc(32, 'example ').toString('base64')}"`),
  );

test('every response is what the document shows', async () => {
  const examples: Record<string, Example> = {};
  for (const [operationId, request] of Object.entries(exampleRequests(chain))) {
    if (operationId === 'submitBlock') request.body = examples['getBlockTemplate']?.response ?? {};
    const { status, json, text, headers } = await ask(operationId, request);
    expect(status, `${operationId}: ${text}`).toBe(UNIMPLEMENTED.has(operationId) ? 400 : 200);
    const response = headers.get('content-type')?.startsWith('text/plain') === true ? text : withFixedValues(json);
    examples[operationId] = { ...request, ...(status === 200 && { response }) };
  }
  const file = { operations: examples, errors: await errors() };
  await expect(`${JSON.stringify(file, undefined, 2)}\n`).toMatchFileSnapshot(FILE);
});

/**
 * Returns one response for each kind of error that a test can cause. The last one stops the node.
 */
async function errors(): Promise<object[]> {
  const { api, database, simulatedDag } = harness;
  const { key } = await createKey(database.kysely, { name: 'small', rateRu: 0.1 });
  const { pruningPointHash: genesis } = await harness.node.call('getBlockDagInfo', {});
  const small = new ApiClient(api.url, key);
  const block = `/v1/blocks/${chain.unknownTransactionId}`;
  const responses = [
    await api.request('/v1/blocks?limit=101&page=2'),
    await api.requestWithoutKey('/v1/blocks'),
    await api.request('/v1/blocks', { headers: { 'x-api-key': 'kdp_00' } }),
    await api.request(block),
    await api.request(`/v1/rpc/estimateNetworkHashesPerSecond?startHash=${genesis}`),
    await api.request('/v1/rpc/getBlocks', { body: { lowHash: '0'.repeat(2 ** 20) } }),
    await api.request('/v1/rpc/getBlocks', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'lowHash',
    }),
  ];
  await small.request(block);
  responses.push(await small.request(block));
  simulatedDag.stop();
  await expect.poll(async () => (await api.request('/v1/rpc/getInfo')).status).toBe(503);
  responses.push(await api.request('/v1/rpc/getInfo'));
  expect(responses.map(({ status }) => status)).toEqual([400, 401, 401, 404, 409, 413, 415, 429, 503]);
  return responses.map(({ json }) => json);
}
