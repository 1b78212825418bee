import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { Pacer } from '../limits/pacer.ts';
import { serveConstantResponses } from './constant-responses.ts';

const FILE = '/static/script.js';
const CONTENT = 'constant '.repeat(50_000);

/** Serves a file with these statuses, the last one from then on. */
function serve(statuses: number[], paths: Readonly<Record<string, number>> = {}) {
  const app = Fastify();
  onTestFinished(() => app.close());
  serveConstantResponses(app, '/static', paths, new Pacer({ perSecond: 1000, burst: 1000 }));
  let made = 0;
  for (const path of [FILE, ...Object.keys(paths)])
    app.get(path, async (_request, reply) => {
      const status = statuses[Math.min(made, statuses.length - 1)] ?? 200;
      made += 1;
      return reply.code(status).type('text/javascript').send(CONTENT);
    });
  const get = (encoding: string, url = FILE) => app.inject({ url, headers: { 'accept-encoding': encoding } });
  return { get, made: () => made };
}

it('is made once for clients that ask at the same time', async () => {
  const { get, made } = serve([200]);
  const responses = await Promise.all(Array.from({ length: 20 }, () => get('br')));
  expect(made()).toBe(1);
  expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect(new Set(responses.map(({ headers }) => headers['content-encoding']))).toEqual(new Set(['br']));
  expect(new Set(responses.map(({ rawPayload }) => rawPayload.toString('base64'))).size).toBe(1);
  await get('gzip');
  expect(made()).toBe(2);
});

it('is not kept if it failed, and clients that waited ask for it again', async () => {
  const { get, made } = serve([500, 200]);
  const statuses = (await Promise.all(Array.from({ length: 5 }, () => get('identity')))).map(
    ({ statusCode }) => statusCode,
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(4);
  const before = made();
  expect((await get('identity')).statusCode).toBe(200);
  expect((await get('identity')).body).toBe(CONTENT);
  expect(made()).toBeLessThanOrEqual(before + 1);
});

it('is made again when its time is over', async () => {
  const { get, made } = serve([200], { '/json': 300, '/document': Number.POSITIVE_INFINITY });
  for (let n = 0; n < 5; n += 1) {
    await get('br', '/json');
    await get('br', '/document');
  }
  const first = made();
  await sleep(400);
  await Promise.all(Array.from({ length: 5 }, () => get('br', '/document')));
  expect(made()).toBe(first);
  await Promise.all(Array.from({ length: 5 }, () => get('br', '/json')));
  expect(made()).toBe(first + 1);
});
