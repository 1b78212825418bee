import { expect, test } from 'vitest';
import { retry } from './retry.ts';

/** Pauses of 2, 4, 8, … milliseconds. */
const PAUSES = { firstMs: 2, maxMs: 1000, random: () => 1 };

const fail = (): Promise<never> => Promise.reject(new Error('failed'));

test('it retries with growing pauses until the task succeeds', async () => {
  const pauses: number[] = [];
  let runs = 0;
  const run = async (): Promise<string> => {
    runs += 1;
    if (runs < 4) throw new Error('failed');
    return 'result';
  };
  const { signal } = new AbortController();
  const result = await retry(run, { ...PAUSES, signal, onFailure: (_error, pauseMs) => pauses.push(pauseMs) });
  expect([result, pauses]).toEqual(['result', [2, 4, 8]]);
});

test('it begins with the first pause after the task has succeeded for a while', async () => {
  const pauses: number[] = [];
  let runs = 0;
  const run = async (succeeded: () => void): Promise<void> => {
    runs += 1;
    if (runs === 3) succeeded();
    if (runs < 5) throw new Error('failed');
  };
  const { signal } = new AbortController();
  await retry(run, { ...PAUSES, signal, onFailure: (_error, pauseMs) => pauses.push(pauseMs) });
  expect(pauses).toEqual([2, 4, 2, 4]);
});

test('it throws what onFailure throws', async () => {
  const retrying = retry(fail, {
    signal: new AbortController().signal,
    onFailure: () => {
      throw new Error('fatal');
    },
  });
  await expect(retrying).rejects.toThrow('fatal');
});

test('it returns undefined when the signal is aborted: before, during and after the task', async () => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown): unknown => failures.push(error);
  expect(await retry(async () => 'result', { signal: AbortSignal.abort(), onFailure })).toBeUndefined();

  const during = new AbortController();
  const failing = async (): Promise<never> => {
    during.abort();
    throw new Error('failed');
  };
  expect(await retry(failing, { signal: during.signal, onFailure })).toBeUndefined();
  expect(failures).toEqual([]);

  const pausing = new AbortController();
  const abort = (): void => void setTimeout(() => pausing.abort(), 1);
  expect(await retry(fail, { firstMs: 60_000, signal: pausing.signal, onFailure: abort })).toBeUndefined();
});
