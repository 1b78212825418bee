import { expect, test } from 'vitest';
import { describeApi } from './document.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  'x-request-cost-ru'?: number;
  responses: Record<string, object>;
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

const document = (await describeApi()) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

test('has the endpoints of the specification at their costs, and the status, which is free', () => {
  expect(document.openapi).toBe('3.1.0');
  const costs = Object.fromEntries(operations.map(({ name, operation }) => [name, operation['x-request-cost-ru']]));
  expect(costs).toEqual({
    'POST /v1/rpc/getVirtualChainFromBlock': 0.1,
    'POST /v1/rpc/getBlocks': 0.5,
    'POST /v1/rpc/getMempoolEntriesByAddresses': 0.1,
    'POST /v1/rpc/getMempoolEntry': 0.1,
    'POST /v1/rpc/getBlockTemplate': 0.1,
    'POST /v1/transactions/acceptance': 0.1,
    'POST /v1/rpc/getDaaScoreTimestampEstimate': 0.1,
    'GET /v1/addresses/{address}/tag': 0.1,
    'GET /v1/rpc/estimateNetworkHashesPerSecond': 0.1,
    'GET /v1/rpc/getBalanceByAddress/{address}': 0.1,
    'GET /v1/rpc/getCoinSupply': 0.1,
    'GET /v1/rpc/getCurrentNetwork': 0.1,
    'GET /v1/status': undefined,
  });
});

test('every operation has its own name, and one under a key declares 401, 500 and 503', () => {
  const names = operations.map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, operation } of operations) {
    const wanted = operation.security === undefined ? ['200', '401', '500', '503'] : ['200', '500', '503'];
    expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(wanted));
  }
});

test('every reference leads to a component, and every component is referred to', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name,
  );
  expect(new Set(references)).toEqual(new Set(Object.keys(document.components.schemas)));
});
