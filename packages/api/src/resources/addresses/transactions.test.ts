import { setTimeout as sleep } from 'node:timers/promises';
import { getNetwork } from '@kasgres/kaspa';
import { createLogger, type Logger } from '@kasgres/runtime';
import { expect, it, onTestFinished } from 'vitest';
import { serverWithoutDatabase } from '../../testing/node-stub.ts';

const PATH = '/v1/addresses/kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t/transactions';
const CHUNK_ROWS = 1000;
const getSettledState = () => ({ network: getNetwork('simnet'), firstCatchUp: false });

/**
 * A server of an address that has two chunks of transactions.
 * @param pause before the second one
 */
async function serve(logger?: Logger, pause?: Promise<void>) {
  const { server, services } = await serverWithoutDatabase({ ...(logger && { logger }) });
  onTestFinished(() => server.close());
  const chunks = [CHUNK_ROWS, 1];
  let reads = 0;
  const read = async () => {
    const length = chunks[reads] ?? 0;
    reads += 1;
    if (reads > 1) await pause;
    const rows = Array.from({ length }, () => ({ key: 1n, transaction_id: 'ab'.repeat(32) }));
    return { rows, next: reads < chunks.length ? 1n : undefined };
  };
  const getState = async () => ({ ...getSettledState(), sinkHash: 'cd'.repeat(32), gaps: 2 });
  Object.assign(services.index, { read, getSettledState, getState });
  const ask = (method: 'GET' | 'HEAD', query = '', headers = {}) =>
    server.inject({ method, url: PATH + query, headers: { 'x-api-key': 'any', accept: 'text/csv', ...headers } });
  return { server, ask, reads: () => reads };
}

it('HEAD of a CSV has the headers of GET, and reads nothing', async () => {
  const { ask, reads } = await serve();
  const head = await ask('HEAD');
  await sleep(100);
  expect([head.statusCode, head.body, reads()]).toEqual([200, '', 0]);
  const got = await ask('GET');
  expect([got.statusCode, reads()]).toEqual([200, 2]);
  for (const name of ['content-type', 'content-disposition', 'cache-control', 'x-request-cost-ru', 'content-length']) {
    expect(head.headers[name], name).toEqual(got.headers[name]);
  }
});

it('a CSV names the state from which it is read, and is a 304 until that changes', async () => {
  const { ask, reads } = await serve();
  const { headers } = await ask('GET');
  expect(headers).toMatchObject({ 'x-kasgres-sink': 'cd'.repeat(32), 'x-kasgres-gaps': '2' });
  const again = await ask('GET', '', { 'if-none-match': headers.etag });
  expect([again.statusCode, again.body, reads()]).toEqual([304, '', 2]);
});

it('HEAD of a CSV is refused like GET', async () => {
  const { ask } = await serve();
  for (const method of ['GET', 'HEAD'] as const) expect((await ask(method, '?from=2&to=1')).statusCode).toBe(400);
});

it('a client that leaves before the end of a CSV is no failure of the request', async () => {
  const lines: { level: string }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[number]);
  const { promise: pause, resolve: continueReading } = Promise.withResolvers<void>();
  const { server, reads } = await serve(createLogger({ name: 'api under test', destination: { write } }), pause);
  const url = await server.listen({ port: 0 });
  const leaving = new AbortController();
  await fetch(url + PATH, { headers: { 'x-api-key': 'any', accept: 'text/csv' }, signal: leaving.signal });
  leaving.abort();
  await sleep(100);
  continueReading();
  await sleep(100);
  expect(lines.filter(({ level }) => level !== 'info')).toEqual([]);
  expect(reads()).toBe(2);
});
