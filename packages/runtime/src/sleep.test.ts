import { expect, test } from 'vitest';
import { backoff, isAbortError, sleep, untilAborted } from './sleep.ts';

test('delays grow to the limit and stay in the upper half of their step', () => {
  const low = backoff({ firstMs: 100, maxMs: 1000, random: () => 0 });
  expect(Array.from({ length: 6 }, () => low.next().value)).toEqual([50, 100, 200, 400, 500, 500]);
  const high = backoff({ firstMs: 100, maxMs: 1000, random: () => 0.999_999 });
  expect(Array.from({ length: 6 }, () => high.next().value)).toEqual([100, 200, 400, 800, 1000, 1000]);
});

test('a sleep rejects when its signal is aborted', async () => {
  const controller = new AbortController();
  const sleeping = sleep(60_000, controller.signal);
  controller.abort();
  const error: unknown = await sleeping.catch((caught: unknown) => caught);
  expect(isAbortError(error)).toBe(true);
  await untilAborted(controller.signal);
});
