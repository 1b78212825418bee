import { type KeyUsage, UnknownCommitError } from '@kasgres/database';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UsageMeter } from './usage-meter.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 31, 23, 59, 50) });
});
afterEach(() => {
  vi.useRealTimers();
});

const meterInto = (written: KeyUsage[][]) =>
  new UsageMeter(
    async (batch) => {
      written.push([...batch]);
    },
    () => undefined,
  );

it('sums up usage by key and day, and writes it every five seconds', async () => {
  const written: KeyUsage[][] = [];
  const meter = meterInto(written);
  for (let request = 0; request < 3; request += 1) meter.add(1n, 0.1);
  meter.add(2n, 0.5);
  await vi.advanceTimersByTimeAsync(5000);
  vi.setSystemTime(Date.UTC(2026, 1, 1));
  meter.add(1n, 0.1);
  await meter.close();
  expect(written).toEqual([
    [
      { apiKeyId: 1n, day: '2026-01-31', requests: 3, ru: 0.3 },
      { apiKeyId: 2n, day: '2026-01-31', requests: 1, ru: 0.5 },
    ],
    [{ apiKeyId: 1n, day: '2026-02-01', requests: 1, ru: 0.1 }],
  ]);
});

it('keeps usage that could not be written', async () => {
  const write = vi.fn<(batch: readonly KeyUsage[]) => Promise<void>>(async () => undefined);
  write.mockRejectedValueOnce(new Error('the database is away'));
  const onError = vi.fn();
  const meter = new UsageMeter(write, onError);
  meter.add(1n, 0.1);
  await meter.flush();
  meter.add(1n, 0.5);
  await meter.close();
  expect(onError).toHaveBeenCalledOnce();
  expect(write.mock.lastCall).toEqual([[{ apiKeyId: 1n, day: '2026-01-31', requests: 2, ru: 0.6 }]]);
});

it.each([
  ['does not write a batch again that was committed', true, []],
  ['writes a batch again that was not committed', false, [{ apiKeyId: 1n, day: '2026-01-31', requests: 1, ru: 0.1 }]],
])('%s, if the response of the database was lost', async (_, arrived, writtenAgain) => {
  const hasCommitted = vi.fn<() => Promise<boolean>>(async () => arrived);
  hasCommitted.mockRejectedValueOnce(new Error('the database is away'));
  const write = vi.fn<(batch: readonly KeyUsage[]) => Promise<void>>(async () => undefined);
  write.mockRejectedValueOnce(new UnknownCommitError(hasCommitted, new Error('the connection was lost')));
  const onError = vi.fn();
  const meter = new UsageMeter(write, onError);
  meter.add(1n, 0.1);
  await meter.flush();
  meter.add(2n, 0.5);
  await meter.flush();
  // Until it is known, nothing else is written, and nothing is forgotten.
  expect(write).toHaveBeenCalledOnce();
  expect(onError).toHaveBeenCalledTimes(2);
  expect(meter.missingRu(1n, '2026-01-31', performance.now())).toBe(0.1);
  await meter.close();
  expect(write).toHaveBeenCalledTimes(2);
  const [last = []] = write.mock.lastCall ?? [];
  expect(last.toSorted((a, b) => Number(a.apiKeyId - b.apiKeyId))).toEqual([
    ...writtenAgain,
    { apiKeyId: 2n, day: '2026-01-31', requests: 1, ru: 0.5 },
  ]);
  expect(meter.missingRu(1n, '2026-01-31', performance.now() + 1)).toBe(0);
});

it('sums up tenths of a unit exactly', async () => {
  const written: KeyUsage[][] = [];
  const meter = meterInto(written);
  for (let request = 0; request < 30_000; request += 1) meter.add(1n, 0.1);
  await meter.close();
  expect(written[0]?.[0]?.ru).toBe(3000);
});

it('counts a batch as missing in usage that was read before the batch was written', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const meter = new UsageMeter(
    () => arrived,
    () => undefined,
  );
  const readBefore = performance.now();
  expect(meter.mayHaveWrittenSince(readBefore)).toBe(false);
  meter.add(1n, 0.5);
  const flushed = meter.flush();
  meter.add(1n, 0.1);
  meter.add(2n, 7);
  expect(meter.mayHaveWrittenSince(readBefore)).toBe(true);
  expect(meter.missingRu(1n, '2026-01-31', readBefore)).toBe(0.6);
  expect(meter.missingRu(1n, '2026-02-01', readBefore)).toBe(0);
  await vi.advanceTimersByTimeAsync(10);
  arrive();
  await flushed;
  await vi.advanceTimersByTimeAsync(10);
  const readAfter = performance.now();
  expect(meter.missingRu(1n, '2026-01-01', readBefore)).toBe(0.6);
  expect(meter.missingRu(1n, '2026-01-01', readAfter)).toBe(0.1);
  expect(meter.mayHaveWrittenSince(readBefore)).toBe(true);
  expect(meter.mayHaveWrittenSince(readAfter)).toBe(false);
  await meter.close();
});

it('refunds usage, also after it was written', async () => {
  const written: KeyUsage[][] = [];
  const meter = meterInto(written);
  meter.add(1n, 0.1);
  await meter.flush();
  meter.add(1n, -0.1, { requests: -1, day: '2026-01-31' });
  await meter.close();
  expect(written.at(-1)).toEqual([{ apiKeyId: 1n, day: '2026-01-31', requests: -1, ru: -0.1 }]);
});

it('writes one batch after another, and waits for both on close', async () => {
  const written: KeyUsage[][] = [];
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const meter = new UsageMeter(
    async (batch) => {
      written.push([...batch]);
      await arrived;
    },
    () => undefined,
  );
  meter.add(1n, 0.1);
  await vi.advanceTimersByTimeAsync(20_000);
  meter.add(1n, 0.2);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(written).toHaveLength(1);
  arrive();
  await meter.close();
  expect(written.map(([usage]) => usage?.ru)).toEqual([0.1, 0.2]);
});

it('keeps one entry per key and day during an outage of days', async () => {
  const write = vi.fn<(batch: readonly KeyUsage[]) => Promise<void>>(async () => undefined);
  write.mockRejectedValue(new Error('the database is away'));
  const meter = new UsageMeter(write, () => undefined);
  for (let minute = 0; minute < 2000; minute += 1) {
    meter.add(1n, 0.1);
    await vi.advanceTimersByTimeAsync(60_000);
  }
  await meter.close();
  expect(write.mock.lastCall?.[0]).toEqual([
    { apiKeyId: 1n, day: '2026-01-31', requests: 1, ru: 0.1 },
    { apiKeyId: 1n, day: '2026-02-01', requests: 1440, ru: 144 },
    { apiKeyId: 1n, day: '2026-02-02', requests: 559, ru: 55.9 },
  ]);
});
