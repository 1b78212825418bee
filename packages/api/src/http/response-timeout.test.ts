import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { limitResponseTime } from './response-timeout.ts';
import { useErrorEnvelope } from './error-envelope.ts';

const LIMIT_MS = 100;

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let app: FastifyInstance;
let failures: unknown[];

beforeEach(() => {
  failures = [];
  app = Fastify({ logger: { level: 'error', stream: { write: (line) => failures.push(line) } } });
  const timeouts = limitResponseTime(app, LIMIT_MS);
  app.addHook('onRequest', (_request, reply, done) => {
    timeouts.begin(reply);
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (timeouts.end(reply)) done(null, payload);
  });
  useErrorEnvelope(app);
});
afterEach(() => app.close());

async function ask(): Promise<[status: number, body: string]> {
  const url = await app.listen({ port: 0 });
  const response = await fetch(url);
  return [response.status, await response.text()];
}

const TOO_LATE = [503, '{"statusCode":503,"message":"The response was not ready after 0.1 seconds"}'];

it('responds with a 503 if the response is not ready in time', async () => {
  app.get('/', async () => {
    await sleep(3 * LIMIT_MS);
    return { late: true };
  });
  expect(await ask()).toEqual(TOO_LATE);
});

it('drops a response that is being serialized at the deadline', async () => {
  app.addHook('preSerialization', async (_request, _reply, payload) => {
    if (payload !== null && typeof payload === 'object' && 'late' in payload) await sleep(3 * LIMIT_MS);
    return payload;
  });
  app.get('/', async () => ({ late: true }));
  expect(await ask()).toEqual(TOO_LATE);
  await sleep(4 * LIMIT_MS);
  expect(failures).toEqual([]);
});

async function* slowly(): AsyncGenerator<string> {
  for (let part = 0; part < 6; part += 1) {
    await sleep(LIMIT_MS / 2);
    yield 'part ';
  }
}

it('does not count the time in which the client reads a streamed response', async () => {
  app.get('/', async () => Readable.from(slowly()));
  expect(await ask()).toEqual([200, 'part '.repeat(6)]);
});
