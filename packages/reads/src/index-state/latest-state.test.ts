/** The state that requests share: how old it may be, and that it never goes backwards. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { IndexState } from './index-state.ts';
import { LatestState } from './latest-state.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const stateOf = (version: bigint, begunAt = 'once'): IndexState => ({ version, begunAt }) as IndexState;

/** The reads that have begun, to be resolved by the test. */
function pendingReads() {
  const reads: PromiseWithResolvers<IndexState | undefined>[] = [];
  const latest = new LatestState(() => {
    const read = Promise.withResolvers<IndexState | undefined>();
    reads.push(read);
    return read.promise;
  });
  return { reads, latest };
}

async function afterFirstRead() {
  const { reads, latest } = pendingReads();
  const first = latest.get();
  reads[0]?.resolve(stateOf(1n));
  await first;
  return { reads, latest };
}

it('shares one read among requests, and its result for five milliseconds', async () => {
  const { reads, latest } = pendingReads();
  const requests = [latest.get(), latest.get()];
  expect(reads).toHaveLength(1);
  reads[0]?.resolve(stateOf(1n));
  for (const request of requests) expect(await request).toEqual(stateOf(1n));
  vi.advanceTimersByTime(5);
  expect(latest.get()).toEqual(stateOf(1n));
  expect(reads).toHaveLength(1);
});

it('reads again after five milliseconds, which requests wait for after twenty', async () => {
  const { reads, latest } = await afterFirstRead();
  vi.advanceTimersByTime(6);
  expect(reads).toHaveLength(1);
  expect(latest.get()).toEqual(stateOf(1n));
  expect(reads).toHaveLength(2);
  vi.advanceTimersByTime(15);
  const late = latest.get();
  reads[1]?.resolve(stateOf(2n));
  expect(await late).toEqual(stateOf(2n));
  expect(latest.get()).toEqual(stateOf(2n));
});

it('survives the failure of a read that no request waits for', async () => {
  const { reads, latest } = await afterFirstRead();
  vi.advanceTimersByTime(6);
  expect(latest.get()).toEqual(stateOf(1n));
  reads[1]?.reject(new Error('the database is out of reach'));
  await vi.advanceTimersByTimeAsync(15);
  const next = latest.get();
  expect(reads).toHaveLength(3);
  reads[2]?.resolve(stateOf(2n));
  expect(await next).toEqual(stateOf(2n));
});

it('waits for a read that begins after the request if the running one is too old', async () => {
  const { reads, latest } = pendingReads();
  const early = latest.get();
  vi.advanceTimersByTime(21);
  const late = latest.get();
  expect(reads).toHaveLength(1);
  reads[0]?.resolve(stateOf(1n));
  expect(await early).toEqual(stateOf(1n));
  await vi.waitFor(() => expect(reads).toHaveLength(2));
  reads[1]?.resolve(stateOf(2n));
  expect(await late).toEqual(stateOf(2n));
});

it('never goes backwards', async () => {
  const { reads, latest } = pendingReads();
  const request = latest.get();
  latest.observe(stateOf(3n), performance.now());
  reads[0]?.resolve(stateOf(2n));
  expect(await request).toEqual(stateOf(3n));
  expect(latest.last).toEqual(stateOf(3n));
});

it('takes the state of an index that was begun again', () => {
  const { latest } = pendingReads();
  latest.observe(stateOf(3n), 0);
  expect(latest.observe(stateOf(1n, 'again'), 1)).toEqual(stateOf(1n, 'again'));
});

it('reads again after a failure', async () => {
  const { reads, latest } = pendingReads();
  const failed = latest.get();
  reads[0]?.reject(new Error('the database is out of reach'));
  await expect(failed).rejects.toThrow('out of reach');
  const next = latest.get();
  reads[1]?.resolve(undefined);
  expect(await next).toBeUndefined();
});
