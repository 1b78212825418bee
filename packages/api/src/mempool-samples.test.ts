import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MempoolSamples } from './mempool-samples.ts';
import { NodeCalls, type NodeCaller } from './node-calls.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
);
afterEach(() => void vi.useRealTimers());

/** Samples of a node that takes `listMs` to list its mempool. */
function samplesOf(listMs: number) {
  const counts = { begun: 0, running: 0, mostRunning: 0 };
  const call = async (op: string) => {
    if (op === 'getInfo') {
      counts.begun += 1;
      counts.running += 1;
      counts.mostRunning = Math.max(counts.mostRunning, counts.running);
      return { mempoolSize: 1n };
    }
    await new Promise((resolve) => setTimeout(resolve, listMs));
    counts.running -= 1;
    return { entries: [] };
  };
  return { samples: new MempoolSamples(new NodeCalls({ call } as unknown as NodeCaller)), counts };
}

/** Gets a sample every 100 ms for 30 seconds. Returns the outcomes, and the longest wait in milliseconds. */
async function getFor30Seconds(samples: MempoolSamples) {
  const outcomes = new Set<string>();
  let longestMs = 0;
  const get = async () => {
    const begunAt = performance.now();
    try {
      await samples.get();
      outcomes.add('sample');
    } catch (error) {
      outcomes.add(String(error));
    }
    longestMs = Math.max(longestMs, performance.now() - begunAt);
  };
  for (let count = 0; count < 300; count += 1) {
    void get();
    await vi.advanceTimersByTimeAsync(100);
  }
  await vi.advanceTimersByTimeAsync(4900);
  return { outcomes: [...outcomes], longestMs };
}

it('samples once a second while it is used', async () => {
  const { samples, counts } = samplesOf(100);
  expect(await getFor30Seconds(samples)).toMatchObject({ outcomes: ['sample'] });
  expect(counts).toMatchObject({ begun: 35, mostRunning: 1 });
});

it('runs no two samples at once if they take longer than a second', async () => {
  const { samples, counts } = samplesOf(1500);
  expect(await getFor30Seconds(samples)).toEqual({ outcomes: ['sample'], longestMs: 1500 });
  expect(counts.mostRunning).toBe(1);
});

it('stops when nobody has used it for a minute, also during a sample', async () => {
  const { samples, counts } = samplesOf(1500);
  await Promise.all([samples.get(), vi.advanceTimersByTimeAsync(70_000)]);
  const { begun } = counts;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(counts).toEqual({ begun, running: 0, mostRunning: 1 });
});
