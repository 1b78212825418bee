/**
 * The examples in openapi.json are true: each request is sent again to the real API over the same simulated chain, and its response
 * must be what the document shows. `npm run generate:examples` rewrites them.
 */
import { createKey } from '@kasgres/database';
import { type ExampleRequest, exampleRequests, generateDocument } from '@kasgres/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiClient, type ApiResponse } from '../support/api-client.ts';
import { openChain } from './chain.ts';

const FILE = '../../packages/api/src/generated/examples.json';

interface Example extends ExampleRequest {
  /** Left out where no request gets one. */
  response?: object;
}

/** No node implements this: kaspad 2.1 says that it has not implemented it. */
const NEVER_RESPONSEED = new Set(['getSubnetwork']);

interface Document {
  paths: Record<string, Record<string, { operationId: string }>>;
}

const { paths } = (await generateDocument()) as Document;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({ operationId, method, path })),
);

let harness: Awaited<ReturnType<typeof openChain>>;

beforeAll(async () => {
  harness = await openChain();
});
afterAll(() => harness.close());

/** Sends an example as a client would. */
async function ask(operationId: string, { path = {}, query = {}, body }: ExampleRequest): Promise<ApiResponse> {
  const operation = operations.find((known) => known.operationId === operationId);
  if (operation === undefined) throw new Error(`there is no operation ${operationId}`);
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '');
  const parameters = new URLSearchParams(query as Record<string, string>).toString();
  const url = parameters === '' ? filled : `${filled}?${parameters}`;
  return await harness.api.request(url, body && { body });
}

test('every operation has an example', () => {
  const names = operations.map(({ operationId }) => operationId);
  expect(Object.keys(exampleRequests(harness.chain)).toSorted()).toEqual(names.toSorted());
});

test('every response is what the document shows', async () => {
  const examples: Record<string, Example> = {};
  for (const [operationId, request] of Object.entries(exampleRequests(harness.chain))) {
    if (operationId === 'submitBlock') request.body = examples['getBlockTemplate']?.response ?? {};
    const { status, json, text } = await ask(operationId, request);
    expect(status, `${operationId}: ${text}`).toBe(NEVER_RESPONSEED.has(operationId) ? 400 : 200);
    examples[operationId] = { ...request, ...(status === 200 && { response: json }) };
  }
  const file = { operations: examples, errors: await errors() };
  await expect(`${JSON.stringify(file, undefined, 2)}\n`).toMatchFileSnapshot(FILE);
});

/** Returns one response for each kind of error that a test can cause. The last one stops the node. */
async function errors(): Promise<object[]> {
  const { api, chain, database, simulatedDag } = harness;
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
