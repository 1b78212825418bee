/** Asking again, by the answers of an API that is played here. */
import { expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import { createClient } from './client.ts';
import type { RetryOptions } from './retry.ts';

interface Played {
  ask: (signal?: AbortSignal) => Promise<unknown>;
  /** Bodies, in the order in which they were sent. */
  sent: string[];
}

function play(answers: (() => Response)[], retry?: RetryOptions): Played {
  const sent: string[] = [];
  const client = createClient({
    baseUrl: 'http://api.test',
    apiKey: 'key',
    ...(retry && { retry }),
    fetch: async (request) => {
      sent.push(await request.text());
      return (answers[sent.length - 1] as () => Response)();
    },
  });
  return {
    ask: (signal) =>
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

test('a 429 and a 503 are asked again, with the same body, when their time has come', async () => {
  const { ask, sent } = play([later(429, '0'), later(503, '0'), good], { attempts: 3 });
  await expect(ask()).resolves.toEqual({ transactions: [] });
  expect(sent).toEqual(Array.from({ length: 3 }, () => '{"transactionIds":[]}'));
});

test('not more often than told, and then the error is that of the API', async () => {
  const { ask, sent } = play([later(429, '0'), later(429, '0'), good], { attempts: 2 });
  await expect(ask()).rejects.toMatchObject({ status: 429, message: 'later', retryAfterSeconds: 0 });
  expect(sent).toHaveLength(2);
});

test.each([
  ['without being told to', undefined, later(429, '0')],
  ['when the wait would be too long', { attempts: 5, maxWaitSeconds: 1 }, later(429, '2')],
  ['when the answer does not say how long', { attempts: 5 }, later(503)],
  ['what asking again does not change', { attempts: 5 }, later(404, '0')],
])('nothing is asked again %s', async (_, retry, answer) => {
  const { ask, sent } = play([answer], retry);
  await expect(ask()).rejects.toBeInstanceOf(ApiError);
  expect(sent).toHaveLength(1);
});

test('an aborted wait ends at once', async () => {
  const controller = new AbortController();
  const { ask } = play([later(503, '50'), good], { attempts: 2 });
  const answer = ask(controller.signal);
  setTimeout(() => controller.abort(new Error('enough')), 10);
  await expect(answer).rejects.toThrow('enough');
});

test('an answer that is not of the API is an error of its status', async () => {
  const { ask } = play([() => new Response('<html>', { status: 502, statusText: 'Bad Gateway' })]);
  await expect(ask()).rejects.toMatchObject({ status: 502, message: '502 Bad Gateway', details: [] });
});
