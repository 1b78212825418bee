import { expect, it } from 'vitest';
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

it.each([400, 401, 404, 409])('ends with a %i', async (status) => {
  const { api } = apiOf(failed(status));
  const first = subscribe(api, { reconnectMs: 1 }).next();
  await expect(first).rejects.toThrow(StreamError);
  await expect(first).rejects.toMatchObject({ statusCode: status, message: 'no' });
});
