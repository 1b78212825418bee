import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { compressResponses } from '../../http/compression.ts';
import type { Admission, RequestKey } from '../../limits/admission.ts';
import { chargeAsRead, UnpaidError } from '../../limits/charge-as-read.ts';
import type { Verdict } from '../../limits/limits.ts';
import { csvOf, MAX_CSV_ROWS, type ReadRows } from './history-csv.ts';

/** An address with `total` rows, and the number of rows of each read. */
function historyOf(total: number) {
  const reads: number[] = [];
  let left = total;
  const readRows = (async (_below, limit) => {
    const rows = Array.from({ length: Math.min(limit, left) }, () => ({ transaction_id: 'ab', key: BigInt(left) }));
    left -= rows.length;
    reads.push(rows.length);
    return { rows, next: rows.length === limit ? BigInt(left) : undefined };
  }) as ReadRows;
  return { readRows, reads };
}

const free = async (): Promise<void> => undefined;

it.each([
  [0, []],
  [99, []],
  [100, []],
  [101, [1]],
  [1100, [10]],
  [1101, [10, 1]],
  [2345, [10, 10, 3]],
])('charges the pages of %i rows beyond the first one, each before its rows are sent', async (total, expected) => {
  const { readRows } = historyOf(total);
  const charged: number[] = [];
  const csv = await text(csvOf(readRows, { charge: async (pages) => void charged.push(pages), maxPages: 1000 }));
  expect(csv.trimEnd().split('\n')).toHaveLength(1 + total);
  expect(charged).toEqual(expected);
});

it('reads no more at once than the rate may pay for, and no more than the most rows', async () => {
  const slow = historyOf(700);
  await text(csvOf(slow.readRows, { charge: free, maxPages: 3 }));
  expect(slow.reads).toEqual([100, 300, 300, 0]);
  const long = historyOf(MAX_CSV_ROWS + 500);
  const csv = await text(csvOf(long.readRows, { charge: free, maxPages: 1000 }));
  expect(csv.trimEnd().split('\n')).toHaveLength(1 + MAX_CSV_ROWS);
});

it.each(['identity', 'gzip'])('ends a response that cannot be paid for visibly incomplete (%s)', async (encoding) => {
  const app = Fastify();
  await compressResponses(app);
  const { readRows } = historyOf(5000);
  const charge = vi
    .fn(free)
    .mockResolvedValueOnce(undefined)
    .mockRejectedValueOnce(new UnpaidError('the quota is used up'));
  app.get('/', (_request, reply) => reply.type('text/csv').send(csvOf(readRows, { charge, maxPages: 1000 })));
  onTestFinished(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const sent = send({ port, headers: { 'accept-encoding': encoding } });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let received = '';
  response.on('data', (chunk: Buffer) => (received += String(chunk)));
  await expect(buffer(response)).rejects.toThrow('aborted');
  if (encoding === 'identity')
    expect(received.split('\n').slice(1101)).toEqual(['incomplete: the quota is used up', '']);
});

const ADMITTED: Verdict = { remainingRu: 1, resetSeconds: 1, charge: { ru: 1, window: 1, day: '2026-01-01' } };
const QUOTA: Verdict = { refusal: 'quota', remainingRu: 0, resetSeconds: 3600 };
const rate = (resetSeconds: number): Verdict => ({ refusal: 'rate_limit', remainingRu: 0, resetSeconds });

function chargeWith(verdicts: readonly Verdict[], isRead = () => true) {
  const pending = [...verdicts];
  const chargeMore = vi.fn(async () => pending.shift() as Verdict);
  const request = { apiKey: {} as RequestKey, spentRu: 0.5 };
  return { charged: chargeAsRead({ chargeMore } as unknown as Admission, request, 5, isRead), chargeMore, request };
}

it('waits for the rate', async () => {
  const begunAt = performance.now();
  const { charged, request, chargeMore } = chargeWith([rate(1), ADMITTED]);
  await charged;
  expect(performance.now() - begunAt).toBeGreaterThan(990);
  expect(chargeMore).toHaveBeenCalledTimes(2);
  expect(request.spentRu).toBe(5.5);
});

it('waits neither for a quota nor for a long window', async () => {
  await expect(chargeWith([QUOTA]).charged).rejects.toThrow('the quota is used up');
  await expect(chargeWith([rate(26)]).charged).rejects.toThrow('the rate allowed nothing more');
});

it('charges nothing after the client has left', async () => {
  const { charged, chargeMore } = chargeWith([], () => false);
  await charged;
  expect(chargeMore).not.toHaveBeenCalled();
});
