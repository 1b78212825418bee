import { NodeResponseTooLargeError, NodeUnavailableError } from '@kasgres/node';
import { EventLoopTurns } from '@kasgres/reads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { toPendingTransaction } from './pending-transaction.ts';
import { nodeOf } from '../testing/node-stub.ts';
import { MempoolSamples } from './mempool-samples.ts';
import { NodeCalls } from './node-calls.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
);
afterEach(() => void vi.useRealTimers());

const entryOf = (n: number) => ({
  fee: 10n,
  transaction: {
    outputs: [{ amount: BigInt(n), scriptPublicKey: { version: 0, scriptPublicKey: '51' } }],
    verboseData: { transactionId: n.toString(16).padStart(64, '0'), computeMass: 7n },
  },
});

interface Mempool {
  /** How long the node takes to list it. */
  listMs: number;
  entries?: object[];
  mempoolSize?: bigint;
  fails?: Error | undefined;
}

function samplesOf(mempool: Mempool) {
  const counts = { begun: 0, lists: 0, running: 0, mostRunning: 0 };
  const node = nodeOf(async (op) => {
    const { entries = [], fails } = mempool;
    if (op === 'getInfo') {
      counts.begun += 1;
      return { mempoolSize: mempool.mempoolSize ?? BigInt(entries.length) };
    }
    counts.lists += 1;
    counts.running += 1;
    counts.mostRunning = Math.max(counts.mostRunning, counts.running);
    await new Promise((resolve) => setTimeout(resolve, mempool.listMs));
    counts.running -= 1;
    if (fails !== undefined) throw fails;
    return { entries };
  });
  return { samples: new MempoolSamples(new NodeCalls(node), new EventLoopTurns()), counts };
}

/**
 * Gets a sample every 100 ms for 30 seconds. Returns the outcomes, and the longest wait in
 * milliseconds.
 */
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
  const { samples, counts } = samplesOf({ listMs: 90 });
  expect(await getFor30Seconds(samples)).toMatchObject({ outcomes: ['sample'] });
  expect(counts).toMatchObject({ begun: 35, mostRunning: 1 });
});

it.each([
  ['for a tenth of the time', 900, 4],
  ['every ten seconds if they take longer than one', 4000, 4],
])('takes slow samples %s, and only the first request waits', async (_, listMs, lists) => {
  const { samples, counts } = samplesOf({ listMs });
  expect(await getFor30Seconds(samples)).toEqual({ outcomes: ['sample'], longestMs: listMs });
  expect(counts).toMatchObject({ lists, mostRunning: 1 });
  const begunAt = performance.now();
  await samples.get();
  expect(performance.now()).toBe(begunAt);
});

it('lets no request wait for the first sample of a mempool that has become large', async () => {
  const mempool: Mempool = { listMs: 1 };
  const { samples } = samplesOf(mempool);
  await Promise.all([samples.get(), vi.advanceTimersByTimeAsync(2000)]);
  mempool.listMs = 10_000;
  expect(await getFor30Seconds(samples)).toEqual({ outcomes: ['sample'], longestMs: 100 });
});

it('samples again a second after a failure, however long that took', async () => {
  const mempool: Mempool = {
    listMs: 15_000,
    fails: new NodeUnavailableError('getMempoolEntries: no response within 15 s'),
  };
  const { samples } = samplesOf(mempool);
  const failed = samples.get().catch((problem: unknown) => problem);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await failed).toBe(mempool.fails);
  Object.assign(mempool, { listMs: 1, fails: undefined });
  await vi.advanceTimersByTimeAsync(1000);
  expect(await problemOf(samples)).toMatchObject({ transactions: new Map() });
});

it('stops when nobody has used it for a minute, also during a sample', async () => {
  const { samples, counts } = samplesOf({ listMs: 1500 });
  await Promise.all([samples.get(), vi.advanceTimersByTimeAsync(70_000)]);
  const { begun } = counts;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(counts).toMatchObject({ begun, running: 0, mostRunning: 1 });
});

it('decodes only transactions that are new', async () => {
  const mempool: Mempool = { listMs: 1, entries: [entryOf(1), entryOf(2)] };
  const { samples } = samplesOf(mempool);
  const next = async () => {
    const [sample] = await Promise.all([samples.get(), vi.advanceTimersByTimeAsync(2000)]);
    return [...sample.transactions.values()];
  };
  const before = await next();
  expect(before).toMatchObject([{ fee: 10n, mass: 7n, outputSum: 1n }, { outputSum: 2n }]);
  mempool.entries = [entryOf(2), entryOf(3)];
  await vi.advanceTimersByTimeAsync(2000);
  const after = await next();
  expect(after.map(({ outputSum }) => outputSum)).toEqual([2n, 3n]);
  expect(after[0]).toBe(before[1]);
  expect(after[0]?.seenAt).toBeLessThanOrEqual(after[1]?.seenAt ?? 0);
});

const problemOf = async (samples: MempoolSamples) => {
  const [error] = await Promise.all([
    samples.get().catch((problem: unknown) => problem),
    vi.advanceTimersByTimeAsync(1500),
  ]);
  return error;
};

it('lists no mempool with more transactions than it shows', async () => {
  const { samples, counts } = samplesOf({ listMs: 1, mempoolSize: 50_001n });
  expect(await problemOf(samples)).toMatchObject({
    statusCode: 503,
    message: 'The mempool has 50001 transactions, and at most 50000 are listed',
  });
  expect(counts.lists).toBe(0);
});

it('lists a mempool that was too large again after a minute, or when it has half as many transactions', async () => {
  const mempool: Mempool = {
    listMs: 1,
    mempoolSize: 1000n,
    fails: new NodeResponseTooLargeError('getMempoolEntries', 300_000_000),
  };
  const { samples, counts } = samplesOf(mempool);
  expect(await problemOf(samples)).toMatchObject({ statusCode: 503, message: /300000000 bytes/ });
  for (let second = 0; second < 20; second += 1)
    expect(await problemOf(samples)).toMatchObject({ statusCode: 503, message: /1000 large transactions/ });
  expect(counts.lists).toBe(1);
  mempool.mempoolSize = 499n;
  await problemOf(samples);
  await problemOf(samples);
  expect(counts.lists).toBe(2);
  mempool.fails = undefined;
  await vi.advanceTimersByTimeAsync(60_000);
  await problemOf(samples);
  expect(await problemOf(samples)).toMatchObject({ transactions: new Map() });
});

it('samples what consensus could never accept: sums above 64 bits, scripts that are no hex, no mass', async () => {
  const outputs = Array.from({ length: 100 }, () => ({
    amount: 2n ** 64n - 1n,
    scriptPublicKey: { version: 0, scriptPublicKey: 'x' },
  }));
  const inputs = [
    { previousOutpoint: { transactionId: '00'.repeat(32), index: 2 ** 32 - 1 }, sigOpCount: 2 ** 32 - 1 },
  ];
  const transaction = { ...entryOf(1).transaction, inputs, outputs };
  const { samples } = samplesOf({ listMs: 1, entries: [{ fee: 2n ** 64n - 1n, transaction }] });
  const [{ transactions }] = await Promise.all([samples.get(), vi.advanceTimersByTimeAsync(1000)]);
  const [pending] = transactions.values();
  expect(pending).toMatchObject({ fee: 2n ** 64n - 1n, outputSum: 100n * (2n ** 64n - 1n) });
  expect(pending && toPendingTransaction(pending)).toMatchObject({
    fee: '18446744073709551615',
    feerate: 2635249153387078700,
  });
});
