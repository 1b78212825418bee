import { type Item } from '@kasgres/reads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CutOffReason, type Unread, UnreadResponses } from './unread-responses.ts';

const OPTIONS = { stallMs: 30_000, maxBytes: 1000, graceMs: 2000, checkMs: 500 };

let unread: UnreadResponses;
let cutOff: [name: string, reason: CutOffReason][];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  unread = new UnreadResponses(OPTIONS);
  cutOff = [];
});
afterEach(() => {
  unread.close();
  vi.useRealTimers();
});

const add = (name: string, { caller = 'one', bytes = 100, raw = { destroyed: false } } = {}): Item<Unread> =>
  unread.add(caller, bytes, raw, (reason) => cutOff.push([name, reason]));

function takeSlice({ value }: Item<Unread>): void {
  value.progressAt = performance.now();
}

describe('a response whose client does not read', () => {
  it('closes the connection after the time for a slice, and stops counting the response', () => {
    add('a');
    vi.advanceTimersByTime(29_500);
    expect(cutOff).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(cutOff).toEqual([['a', 'stalled']]);
    expect(unread.bytes).toBe(0);
  });

  it('keeps the connection if the response makes progress, or has been sent', () => {
    const [slow, read] = [add('slow'), add('read')];
    unread.remove(read);
    for (let minute = 0; minute < 60; minute += 1) {
      vi.advanceTimersByTime(25_000);
      takeSlice(slow);
    }
    expect(cutOff).toEqual([]);
    expect(unread.bytes).toBe(100);
    vi.advanceTimersByTime(30_500);
    expect(cutOff).toEqual([['slow', 'stalled']]);
  });
});

describe('responses that exceed the memory limit', () => {
  it('closes responses of the caller with most bytes first, the longest stalled before others', () => {
    add('modest', { caller: 'two', bytes: 300 });
    add('first', { bytes: 300 });
    vi.advanceTimersByTime(100);
    for (const name of ['second', 'third', 'fourth']) add(name, { bytes: 300 });
    vi.advanceTimersByTime(2000);
    expect(cutOff).toEqual([['first', 'memory']]);
    vi.advanceTimersByTime(1000);
    expect(cutOff.slice(1)).toEqual([['second', 'memory']]);
    expect(unread.bytes).toBe(900);
  });

  it('does not count a response whose client has disconnected', () => {
    const raw = { destroyed: false };
    add('disconnected', { bytes: 500, raw });
    add('unread', { bytes: 501 });
    vi.advanceTimersByTime(1900);
    raw.destroyed = true;
    vi.advanceTimersByTime(1000);
    expect(cutOff).toEqual([]);
    expect(unread.bytes).toBe(501);
  });

  it('keeps a response that its client reads', () => {
    const read = add('read', { bytes: 500 });
    add('unread', { bytes: 501 });
    vi.advanceTimersByTime(1900);
    takeSlice(read);
    vi.advanceTimersByTime(1000);
    expect(cutOff).toEqual([['unread', 'memory']]);
  });

  it('keeps responses within the grace period', () => {
    const responses = Array.from({ length: 20 }, (_, number) => add(`${number}`));
    vi.advanceTimersByTime(1900);
    for (const response of responses) unread.remove(response);
    vi.advanceTimersByTime(10_000);
    expect(cutOff).toEqual([]);
    expect(unread.bytes).toBe(0);
  });
});
