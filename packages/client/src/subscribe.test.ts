import { expect, it, vi } from 'vitest';
import { createClient } from './client.ts';
import { StreamError, subscribe } from './subscribe.ts';

const stream = 'retry: 2000\n\nevent: heartbeat\nid: a\ndata: {}\n\nevent: chain\nid: b\ndata: {"added":[]}\n\n';

/** Responds with these, and then ends the test. */
function apiOf(...responses: Response[]) {
  const sent: Request[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    sent.push(request);
    const response = responses.shift();
    if (response === undefined) throw new Error('there are no more responses');
    return response;
  };
  return { sent, api: { baseUrl: 'http://127.0.0.1', apiKey: undefined, fetch } };
}

const failed = (status: number): Response => Response.json({ statusCode: status, message: 'no' }, { status });

it.each([408, 429, 500, 503])('connects again after a %i, and continues at its cursor', async (status) => {
  const { api, sent } = apiOf(failed(status), new Response(stream), failed(status), new Response(stream));
  const steps = subscribe(api, { reconnectMs: 1 });
  for (const expected of ['b', 'b']) expect((await steps.next()).value).toMatchObject({ cursor: expected });
  expect(sent.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, null, 'b', 'b']);
});

it('waits as long as a 429 asks for', async () => {
  const later = failed(429);
  later.headers.set('retry-after', '1');
  const { api } = apiOf(later, new Response(stream));
  const startedAt = performance.now();
  await subscribe(api, { reconnectMs: 1 }).next();
  expect(performance.now() - startedAt).toBeGreaterThan(990);
});

it.each([400, 401, 404, 409])('ends with a %i', async (status) => {
  const { api } = apiOf(failed(status));
  const first = subscribe(api, { reconnectMs: 1 }).next();
  await expect(first).rejects.toThrow(StreamError);
  await expect(first).rejects.toMatchObject({ statusCode: status, message: 'no' });
});

it('says which field is not valid', async () => {
  const details = [{ path: 'addresses.1', message: 'must be an address' }];
  const { api } = apiOf(Response.json({ statusCode: 400, message: 'no', details }, { status: 400 }));
  await expect(subscribe(api).next()).rejects.toMatchObject({ statusCode: 400, details });
});

it.each([
  ['an address without a scheme', { baseUrl: '127.0.0.1:3000' }],
  ['an address of another scheme', { baseUrl: 'localhost:3000' }],
  ['a key with a line break', { baseUrl: 'http://127.0.0.1', apiKey: 'kdp_\nx' }],
])('does not retry with %s', async (_, options) => {
  const { api, sent } = apiOf();
  const client = createClient({ ...options, fetch: api.fetch });
  await expect(client.subscribe({ reconnectMs: 1 }).next()).rejects.toThrow(TypeError);
  expect(sent).toEqual([]);
});

it.each(['', '/'])('requests the stream of a base URL that ends in "%s"', async (end) => {
  const { api, sent } = apiOf(new Response(stream));
  const client = createClient({ baseUrl: `http://127.0.0.1/behind/proxy${end}`, fetch: api.fetch });
  await client.subscribe().next();
  expect(sent.map(({ url }) => url)).toEqual(['http://127.0.0.1/behind/proxy/v1/stream']);
});

it('ends at once if it is aborted between two connections', async () => {
  const { api, sent } = apiOf(failed(503));
  const abort = new AbortController();
  const first = subscribe(api, { reconnectMs: 60_000, signal: abort.signal }).next();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const abortedAt = performance.now();
  abort.abort();
  expect(await first).toEqual({ done: true, value: undefined });
  expect(performance.now() - abortedAt).toBeLessThan(10_000);
  expect(sent).toHaveLength(1);
});

it('yields nothing after an abort, also of what has arrived before it', async () => {
  const { api, sent } = apiOf(new Response(stream + stream));
  const abort = new AbortController();
  const steps = subscribe(api, { reconnectMs: 1, signal: abort.signal });
  expect((await steps.next()).value).toMatchObject({ cursor: 'b' });
  abort.abort();
  expect(await steps.next()).toEqual({ done: true, value: undefined });
  expect(sent).toHaveLength(1);
});

it('keeps its connection while the caller takes minutes for a step, but not one that is silent', async () => {
  vi.useFakeTimers();
  try {
    const { readable, writable } = new TransformStream<string, string>();
    const writer = writable.getWriter();
    const { api, sent } = apiOf(new Response(readable.pipeThrough(new TextEncoderStream())), new Response(stream));
    const steps = subscribe(api, { reconnectMs: 1 });
    void writer.write(stream);
    await steps.next();
    await vi.advanceTimersByTimeAsync(600_000);
    void writer.write(stream);
    await steps.next();
    expect(sent).toHaveLength(1);
    const next = steps.next();
    await vi.advanceTimersByTimeAsync(60_000);
    await next;
    expect(sent).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

const sentEvent = (data: object, id?: string) =>
  `event: covenant\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

const covenantEvent = (data: object) => ({ event: 'covenant', data });

it('asks for covenants or a template, and yields what is pending alone', async () => {
  const [pending, reverted, accepted] = [{ status: 'pending' }, { status: 'reverted' }, { status: 'accepted' }];
  const text = sentEvent(reverted) + sentEvent(pending) + sentEvent(accepted, 'b');
  const { api, sent } = apiOf(new Response(text), new Response(stream));
  const steps = subscribe(api, { events: ['covenant'], covenants: ['ab'.repeat(32)], reconnectMs: 1 });
  expect((await steps.next()).value).toEqual({ cursor: undefined, events: [covenantEvent(pending)] });
  expect((await steps.next()).value).toEqual({
    cursor: 'b',
    events: [covenantEvent(reverted), covenantEvent(accepted)],
  });
  await steps.return(undefined);
  await subscribe(api, { template: 'cd'.repeat(32) }).next();
  const bodies = await Promise.all(sent.map((request) => request.json()));
  expect(bodies).toEqual([{ events: ['covenant'], covenants: ['ab'.repeat(32)] }, { template: 'cd'.repeat(32) }]);
});
