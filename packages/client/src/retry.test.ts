/** Retries, with the responses of a fake API. */
import { expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { createClient } from './client.ts';
import type { RetryOptions } from './retry.ts';

interface FakeApi {
  send: (signal?: AbortSignal) => Promise<unknown>;
  /** Bodies in the order in which they were sent. */
  sent: string[];
}

function createFakeApi(responses: (() => Response)[], retry?: RetryOptions): FakeApi {
  const sent: string[] = [];
  const client = createClient({
    baseUrl: 'http://api.test',
    apiKey: 'key',
    ...(retry && { retry }),
    fetch: async (request) => {
      sent.push(await request.text());
      return (responses[sent.length - 1] as () => Response)();
    },
  });
  return {
    send: (signal) =>
      client.post('/v1/transactions/acceptance', { body: { transactionIds: [] }, ...(signal && { signal }) }),
    sent,
  };
}

const later = (status: number, seconds?: string) => () =>
  Response.json(
    { statusCode: status, message: 'later' },
    { status, headers: seconds === undefined ? {} : { 'retry-after': seconds } },
  );
const good = () => Response.json({ transactions: [] });

it('retries a 429 and a 503 with the same body after the time in retry-after', async () => {
  const { send, sent } = createFakeApi([later(429, '0'), later(503, '0'), good], { attempts: 3 });
  await expect(send()).resolves.toEqual({ transactions: [] });
  expect(sent).toEqual(Array.from({ length: 3 }, () => '{"transactionIds":[]}'));
});

it('obeys a retry-after that is a date, as proxies send it', async () => {
  const { send, sent } = createFakeApi([later(503, new Date(0).toUTCString()), good], { attempts: 2 });
  await expect(send()).resolves.toEqual({ transactions: [] });
  expect(sent).toHaveLength(2);
});

it('throws the error of the API after the last attempt', async () => {
  const { send, sent } = createFakeApi([later(429, '0'), later(429, '0'), good], { attempts: 2 });
  await expect(send()).rejects.toMatchObject({ status: 429, message: 'later', retryAfterSeconds: 0 });
  expect(sent).toHaveLength(2);
});

it.each([
  ['without retry options', undefined, later(429, '0')],
  ['if the wait is too long', { attempts: 5, maxWaitSeconds: 1 }, later(429, '2')],
  ['if the date of retry-after is too far away', { attempts: 5 }, later(503, new Date(1e14).toUTCString())],
  ['without retry-after', { attempts: 5 }, later(503)],
  ['with an empty retry-after', { attempts: 5 }, later(503, '')],
  ['for a status that a retry does not change', { attempts: 5 }, later(404, '0')],
])('does not retry %s', async (_, retry, response) => {
  const { send, sent } = createFakeApi([response], retry);
  await expect(send()).rejects.toBeInstanceOf(ApiError);
  expect(sent).toHaveLength(1);
});

it('stops waiting when it is aborted', async () => {
  const controller = new AbortController();
  const { send } = createFakeApi([later(503, '50'), good], { attempts: 2 });
  const response = send(controller.signal);
  setTimeout(() => controller.abort(new Error('enough')), 10);
  await expect(response).rejects.toThrow('enough');
});

it('waits for the end of a month, which is longer than a timer can', async () => {
  const retry = { attempts: 2, maxWaitSeconds: Number.POSITIVE_INFINITY };
  const { send, sent } = createFakeApi([later(429, String(31 * 86_400)), good], retry);
  const controller = new AbortController();
  const response = send(controller.signal);
  setTimeout(() => controller.abort(new Error('enough')), 50);
  await expect(response).rejects.toThrow('enough');
  expect(sent).toHaveLength(1);
});

it('throws an error with the status of a response that is not from the API', async () => {
  const { send } = createFakeApi([() => new Response('<html>', { status: 502, statusText: 'Bad Gateway' })]);
  await expect(send()).rejects.toMatchObject({ status: 502, message: '502 Bad Gateway', details: [] });
});
