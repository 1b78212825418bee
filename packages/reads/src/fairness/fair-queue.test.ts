import { setImmediate as turn } from 'node:timers/promises';
import { isPoolExhausted } from '@kasgres/database';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FairQueue } from './fair-queue.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Reads that end when a test says so. */
class Reads {
  readonly started: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #queue: FairQueue;

  constructor(queue: FairQueue) {
    this.#queue = queue;
  }

  run(caller: string, name: string): Promise<string> {
    return this.#queue.run(caller, async () => {
      this.started.push(name);
      await new Promise<void>((resolve) => this.#ends.set(name, resolve));
      return name;
    });
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await turn();
  }
}

const queueOf = (slots: number, { maxWaiting = 100, maxWaitMs = 3000 } = {}) =>
  new FairQueue({ slots, maxWaiting, maxWaitMs });

it('gives a single caller half of the slots, and another caller a free one', async () => {
  const reads = new Reads(queueOf(5));
  for (let read = 1; read <= 6; read += 1) void reads.run('greedy', `g${read}`);
  expect(reads.started).toEqual(['g1', 'g2']);
  void reads.run('modest', 'm1');
  expect(reads.started).toEqual(['g1', 'g2', 'm1']);
  await reads.end('g2');
  expect(reads.started.slice(3)).toEqual(['g3']);
});

it('keeps the last quarter of the slots for callers without one', async () => {
  const reads = new Reads(queueOf(8));
  for (const caller of ['a', 'b']) for (let read = 1; read <= 4; read += 1) void reads.run(caller, `${caller}${read}`);
  expect(reads.started).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2']);
  for (const caller of ['c', 'd', 'e']) void reads.run(caller, `${caller}1`);
  expect(reads.started.slice(6)).toEqual(['c1', 'd1']);
  await reads.end('a1');
  expect(reads.started.slice(8)).toEqual(['e1']);
});

it('starts the task of the caller that was served least', async () => {
  const reads = new Reads(queueOf(1));
  void reads.run('slow', 's1');
  for (const name of ['s2', 's3', 's4']) void reads.run('slow', name);
  for (const name of ['f1', 'f2', 'f3']) void reads.run('fast', name);
  vi.advanceTimersByTime(100);
  await reads.end('s1');
  for (const name of ['f1', 'f2']) {
    vi.advanceTimersByTime(40);
    await reads.end(name);
  }
  // 100 ms to 80.
  vi.advanceTimersByTime(40);
  await reads.end('f3');
  expect(reads.started).toEqual(['s1', 'f1', 'f2', 'f3', 's2']);
});

it('gives a new caller no credit for the time before', async () => {
  const reads = new Reads(queueOf(1));
  void reads.run('early', 'e1');
  void reads.run('early', 'e2');
  vi.advanceTimersByTime(1000);
  await reads.end('e1');
  for (const name of ['l1', 'l2', 'l3']) void reads.run('late', name);
  void reads.run('early', 'e3');
  vi.advanceTimersByTime(10);
  await reads.end('e2');
  vi.advanceTimersByTime(50);
  await reads.end('l1');
  expect(reads.started).toEqual(['e1', 'e2', 'l1', 'e3']);
});

it('drops the latest task of the caller with most waiting tasks if too many wait', async () => {
  const reads = new Reads(queueOf(1, { maxWaiting: 3 }));
  void reads.run('flood', 'f1');
  const waiting = ['f2', 'f3', 'f4'].map((name) => reads.run('flood', name).catch((error: unknown) => error));
  await expect(reads.run('flood', 'f5')).rejects.toSatisfy(isPoolExhausted);
  const modest = reads.run('modest', 'm1');
  expect(await waiting[2]).toSatisfy(isPoolExhausted);
  vi.advanceTimersByTime(10);
  await reads.end('f1');
  await reads.end('m1');
  expect(await modest).toBe('m1');
});

it('fails a task that has waited for too long, and removes it from the queue', async () => {
  const queue = queueOf(1);
  const reads = new Reads(queue);
  void reads.run('a', 'a1');
  const late = reads.run('a', 'a2').catch((error: unknown) => error);
  const next = reads.run('b', 'b1').catch((error: unknown) => error);
  vi.advanceTimersByTime(3001);
  expect([await late, await next].every(isPoolExhausted)).toBe(true);
  expect(queue.waiting).toBe(0);
  const b2 = reads.run('b', 'b2');
  await reads.end('a1');
  await reads.end('b2');
  expect(await b2).toBe('b2');
});

it('gives a caller whose tasks have waited for too long no credit for that time', async () => {
  const reads = new Reads(queueOf(1));
  void reads.run('busy', 'b1');
  const late = ['g1', 'g2'].map((name) => reads.run('gone', name).catch((error: unknown) => error));
  vi.advanceTimersByTime(3001);
  expect((await Promise.all(late)).every(isPoolExhausted)).toBe(true);
  await reads.end('b1');

  void reads.run('busy', 'b2');
  for (const name of ['g3', 'g4', 'g5']) void reads.run('gone', name);
  void reads.run('busy', 'b3');
  vi.advanceTimersByTime(10);
  await reads.end('b2');
  vi.advanceTimersByTime(50);
  await reads.end('g3');
  expect(reads.started).toEqual(['b1', 'b2', 'g3', 'b3']);
});

it('frees the slot of a task that fails', async () => {
  const queue = queueOf(1);
  await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await queue.run('b', async () => 1)).toBe(1);
});
