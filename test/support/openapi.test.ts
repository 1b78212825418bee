/** The check of all responses finds what is wrong with one. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { faultsOf, findTemplate, type Method, requireSchema } from './openapi.ts';
import { checkSteps, EventStream } from './streams.ts';

const path = '/v1/rpc/getSink';
const sink = 'ab'.repeat(32);
const headers = {
  'x-request-id': 'id',
  'x-request-cost-ru': '0.1',
  'ratelimit-limit': '500;w=1',
  'ratelimit-remaining': '499.9',
  'ratelimit-reset': '1',
  etag: 'W/"abc"',
  'x-kasgres-sink': sink,
};
const faults = (json: Record<string, unknown>, sent: Record<string, string> = headers, status = 200): string[] =>
  faultsOf('get', path, { status, json, headers: new Headers(sent) });

describe('a response', () => {
  test('as the document has it is without fault', () => {
    expect(faults({ sink })).toEqual([]);
  });

  test.each([
    ['a field that the document does not know', { sink, more: 1 }],
    ['a field too few', {}],
    ['a field of another form', { sink: sink.toUpperCase() }],
  ])('with %s is wrong', (_what, json) => {
    expect(faults(json)).toHaveLength(1);
  });

  test('of a status that is not declared is wrong', () => {
    expect(faults({ sink }, headers, 418)).toEqual([`get ${path} does not declare status 418`]);
  });

  test('without a header that is declared, with one of another form, or with one that is unknown is wrong', () => {
    const { etag: _etag, ...others } = headers;
    expect(faults({ sink }, others)).toEqual(['header etag is missing']);
    expect(faults({ sink }, { ...headers, 'ratelimit-reset': 'soon' })).toHaveLength(1);
    expect(faults({ sink }, { ...headers, 'x-more': '1' })).toEqual(['header x-more is not declared']);
  });
});

test('every object of a response is closed: a field too many is a fault everywhere', () => {
  const document: unknown = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
  const { components, paths } = document as {
    components: { schemas: object };
    paths: Record<string, Record<string, { responses: object }>>;
  };
  const responses = Object.entries(paths).flatMap(([name, methods]) =>
    Object.values(methods).flatMap(({ responses }) => openObjects(responses, name)),
  );
  expect([...responses, ...openObjects(components.schemas, 'components')]).toEqual([]);
});

/** Places of schemas that let an object have fields that they do not name. */
function openObjects(within: unknown, place: string): string[] {
  if (typeof within !== 'object' || within === null) return [];
  const { type, properties, additionalProperties } = within as Record<string, unknown>;
  const isOpen = type === 'object' && properties !== undefined && additionalProperties !== false;
  const below = Object.entries(within).flatMap(([name, value]) => openObjects(value, `${place}.${name}`));
  return isOpen ? [place, ...below] : below;
}

describe('a message of a stream', () => {
  const chain = { event: 'chain' as const, id: sink, data: { removed: [sink], added: [], isCaughtUp: true } };
  type Message = typeof chain;
  const streamOf = (message: object): EventStream => {
    const { event, id, data } = message as Message;
    return new EventStream(
      new Response(`retry: 2000\n\nevent: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`),
    );
  };

  test('as the document has it is without fault', async () => {
    expect(await streamOf(chain).ended()).toContain('event: chain');
  });

  test.each([
    ['of an unknown kind', { ...chain, event: 'more' }],
    ['with a field that the document does not know', { ...chain, data: { ...chain.data, more: 1 } }],
    ['with a field too few', { ...chain, data: { removed: [], added: [] } }],
    ['with the data of another kind', { ...chain, data: { sink, blueScore: '1' } }],
    ['with an id of another form', { ...chain, id: 'ab' }],
  ])('%s is refused', async (_what, message) => {
    await expect(streamOf(message).ended()).rejects.toThrow('not a StreamMessage');
    expect(() => requireSchema('WebSocketMessage', message)).toThrow('not a WebSocketMessage');
    const steps = (async function* () {
      yield { cursor: undefined, events: [message as Message] };
    })();
    await expect(checkSteps(steps).next()).rejects.toThrow('not a StreamMessage');
  });

  test('of a pending transaction is refused in a webhook', () => {
    const data = { previous: sink, cursor: sink, events: [{ event: 'covenant', data: pendingCovenant }] };
    const body = { type: 'kasgres.step', timestamp: new Date().toISOString(), data };
    requireSchema('StreamMessage', data.events[0]);
    expect(() => requireSchema('WebhookMessage', body)).toThrow('not a WebhookMessage');
  });
});

const pendingCovenant = {
  covenantId: sink,
  transactionId: sink,
  kind: 'genesis',
  template: null,
  status: 'pending',
  acceptingBlockHash: null,
  acceptingBlockBlueScore: null,
  confirmations: 0,
};

test.each([
  ['get', '/v1/blocks/daa-score/1/2', '/v1/blocks/daa-score/{start}/{end}'],
  ['get', `/v1/blocks/${sink}?include_transactions=true`, '/v1/blocks/{hash}'],
  ['get', '/v1/blocks?limit=1', '/v1/blocks'],
  ['post', '/v1/transactions/acceptance', '/v1/transactions/acceptance'],
  ['post', '/v1/nothing', undefined],
] as [Method, string, string | undefined][])('%s %s is of %s', (method, url, template) => {
  expect(findTemplate(method, url)).toBe(template);
});
