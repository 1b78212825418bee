/**
 * Validates the document by the schema of OpenAPI, its references, and what clients rely on in
 * every operation.
 */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { generateDocument } from '../app.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  'x-request-cost-ru'?: number;
  requestBody?: object;
  responses: Record<string, object>;
}

interface Document {
  openapi: string;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
}

const document = (await generateDocument()) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

it('is valid by the schema of OpenAPI 3.1', () => {
  // https://spec.openapis.org/oas/3.1/schema/2022-10-07. The one dynamic anchor in it, which ajv
  // resolves otherwise, is that of schemas.
  const text = readFileSync(new URL('../testing/openapi-3.1.schema.json', import.meta.url), 'utf8');
  const schema = JSON.parse(text.replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"')) as object;
  const validate = new Ajv2020({ allErrors: true, strict: false, validateFormats: false }).compile(schema);
  validate(document);
  expect(validate.errors).toBeNull();
});

it('contains only schemas that are valid in the strict mode of ajv', () => {
  const ajv = new Ajv2020({ strict: true, validateFormats: false });
  ajv.addVocabulary(['components']);
  const { schemas } = document.components;
  // References lead to `#/components/schemas/…`, so each schema is looked at with the components
  // beside it.
  const faults = schemasIn(document).flatMap(({ place, schema }) => {
    try {
      ajv.compile({ ...schema, components: { schemas } });
      return [];
    } catch (error) {
      return [`${place}: ${String(error)}`];
    }
  });
  expect(faults).toEqual([]);
});

const isBounded = (schema: Record<string, unknown>): boolean => {
  const { type, properties, additionalProperties, maxProperties, pattern, maxLength, maxItems } = schema;
  if (type === 'array') return maxItems !== undefined;
  if (type === 'object')
    return maxProperties !== undefined || (properties !== undefined && additionalProperties === false);
  if (type === 'string')
    return maxLength !== undefined || (typeof pattern === 'string' && !/[*+]/.test(pattern)) || 'enum' in schema;
  return true;
};

it('has a maximum size for every array, object and string in a request', () => {
  const unbounded = operations.flatMap(({ name, operation }) =>
    schemasWithin(operation.requestBody, name).filter(({ schema }) => !isBounded(schema)),
  );
  expect(unbounded.map(({ place }) => place)).toEqual([]);
  expect(operations.filter(({ operation }) => operation.requestBody !== undefined).length).toBeGreaterThan(10);
});

/** Every object in it that says of itself which type it describes. */
function schemasWithin(value: unknown, place: string): { place: string; schema: Record<string, unknown> }[] {
  if (typeof value !== 'object' || value === null) return [];
  const schema = value as Record<string, unknown>;
  const within = Object.entries(schema).flatMap(([name, part]) => schemasWithin(part, `${place}.${name}`));
  return typeof schema['type'] === 'string' ? [{ place, schema }, ...within] : within;
}

it('has the specified endpoints at their costs, and the free status', () => {
  const costs = Object.fromEntries(operations.map(({ name, operation }) => [name, operation['x-request-cost-ru']]));
  expect(costs).toMatchObject({
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

it('has a unique name, declared tags, a cost and the common statuses for every operation', () => {
  const names = operations.map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, operation } of operations) {
    const isUnderKey = operation.security === undefined;
    const everywhere = ['200', '400', '500', '503'];
    const wanted = isUnderKey ? [...everywhere, '401', '429'] : everywhere;
    expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(wanted));
    expect(operation['x-request-cost-ru'] !== undefined, name).toBe(isUnderKey);
    expect(document.tags.map((tag) => tag.name)).toEqual(expect.arrayContaining(operation.tags));
  }
});

it('declares the 403 of a read-only key for exactly the operations that submit', () => {
  const forbidden = operations.filter(({ operation }) => '403' in operation.responses);
  expect(forbidden.map(({ operation }) => operation.operationId).toSorted()).toEqual([
    'submitBlock',
    'submitTransaction',
  ]);
});

it('declares the refusals of bodies for every operation that reads one, and of a WebSocket', () => {
  const refusing = (status: string) =>
    operations.filter(({ operation }) => status in operation.responses).map(({ name }) => name);
  const reading = operations.flatMap(({ name }) => (name.startsWith('GET ') ? [] : [name]));
  expect(reading).toContain('DELETE /v1/webhooks/{id}');
  expect([refusing('413'), refusing('415'), refusing('426')]).toEqual([reading, reading, ['GET /v1/ws']]);
});

it('references exactly the components that exist', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([\w/]+)"/g)].map(
    ([, name]) => name,
  );
  const components = Object.entries(document.components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, named]) => Object.keys(named).map((name) => `${kind}/${name}`));
  expect(new Set(references)).toEqual(new Set(components));
});

it('has a valid example for every operation', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const { schemas } = document.components;
  const faults = shownIn(document).flatMap(({ place, schema, example }) => {
    const validate = ajv.compile({ ...schema, components: { schemas } });
    return validate(example) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`];
  });
  expect(faults).toEqual([]);
  const responses = operations
    // Streams do not end, and tokens are new each time (docs/stream.md).
    .filter(({ operation }) => !/stream|websocket/i.test(operation.operationId))
    .map(({ operation }) => [operation.operationId, exampleOf(operation.responses['200'])]);
  // No node implements the first one, and the simulated node not the second.
  const withoutExample = responses.flatMap(([name, example]) => (example === undefined ? [name] : []));
  expect(withoutExample).toEqual(['getSubnetwork', 'getSeqCommitLaneProof']);
});

const exampleOf = (response: object | undefined): unknown => {
  const { content } = response as { content: Record<string, { example?: unknown }> };
  return Object.values(content)[0]?.example;
};

interface Shown {
  place: string;
  schema: object;
  example: unknown;
}

/** Every example with the schema that it belongs to. */
function shownIn(value: unknown, place = ''): Shown[] {
  if (typeof value !== 'object' || value === null) return [];
  const { schema, example, examples } = value as { schema?: object; example?: unknown; examples?: object };
  if (schema !== undefined) {
    const several = Object.entries(examples ?? {}) as [string, { value: unknown }][];
    return [
      ...(example === undefined ? [] : [{ place, schema, example }]),
      ...several.map(([name, shown]) => ({ place: `${place}/${name}`, schema, example: shown.value })),
    ];
  }
  return Object.entries(value).flatMap(([key, part]) => shownIn(part, `${place}/${key}`));
}

/** Every schema that stands in its own right, with where it stands. */
function schemasIn(value: unknown, place = ''): { place: string; schema: object }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const here = `${place}/${key}`;
    if (key === 'example' || key === 'examples') return [];
    if (key === 'schema') return [{ place: here, schema: part as object }];
    return here === '/components/schemas'
      ? Object.entries(part as object).map(([name, schema]) => ({ place: `${here}/${name}`, schema: schema as object }))
      : schemasIn(part, here);
  });
}
