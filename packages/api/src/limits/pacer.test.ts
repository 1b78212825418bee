import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Held, Pacer } from './pacer.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

class Response extends EventEmitter {
  destroyed = false;

  destroy(): this {
    this.destroyed = true;
    this.emit('close');
    return this;
  }
}

const newResponse = () => new Response() as Response & Held;

/** Returns the delay of each of `count` responses in milliseconds, or that it was destroyed. */
async function pausesOf(pacer: Pacer, count: number): Promise<(number | 'destroyed')[]> {
  const begun = performance.now();
  const pauses = Array.from({ length: count }, async () => {
    const response = newResponse();
    await pacer.wait(response);
    return response.destroyed ? 'destroyed' : Math.round(performance.now() - begun);
  });
  await vi.advanceTimersByTimeAsync(10_000);
  return Promise.all(pauses);
}

it('does not delay requests within the rate or a burst', async () => {
  const pacer = new Pacer({ perSecond: 100, burst: 10 });
  expect(await pausesOf(pacer, 11)).toEqual(Array.from({ length: 11 }, () => 0));
  for (let request = 0; request < 100; request += 1) {
    vi.advanceTimersByTime(10);
    expect(pacer.wait(newResponse())).toBeUndefined();
  }
});

it('delays requests beyond the rate, and allows a burst again after a pause', async () => {
  const pacer = new Pacer({ perSecond: 100, burst: 10 });
  expect((await pausesOf(pacer, 20)).slice(11)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90]);
  expect(pacer.isIdle).toBe(true);
  expect(Math.max(...((await pausesOf(pacer, 11)) as number[]))).toBe(0);
});

it('delays requests by at most five seconds, and destroys further connections', async () => {
  const pacer = new Pacer({ perSecond: 100, burst: 10 });
  const pauses = await pausesOf(pacer, 10_000);
  const waited = pauses.filter((pause) => pause !== 'destroyed');
  expect(waited.slice(0, 12)).toEqual([...Array.from({ length: 11 }, () => 0), 10]);
  expect(Math.max(...waited)).toBe(5000);
  expect(waited).toHaveLength(11 + 500);
});

it('forgets a client that disconnects at once', async () => {
  const pacer = new Pacer({ perSecond: 100, burst: 10 });
  await pausesOf(pacer, 11);
  for (let flood = 0; flood < 5; flood += 1) {
    const held = Array.from({ length: 500 }, newResponse);
    const waits = held.map(async (response) => pacer.wait(response));
    expect(held.some(({ destroyed }) => destroyed)).toBe(false);
    for (const response of held) response.destroy();
    await Promise.all(waits);
    expect(vi.getTimerCount()).toBe(0);
  }
});

it('does not wait for a client that has already disconnected', () => {
  const pacer = new Pacer({ perSecond: 100, burst: 0 });
  void pacer.wait(newResponse());
  const gone = newResponse();
  gone.destroyed = true;
  expect(pacer.wait(gone)).toBeUndefined();
});

it('counts a response by its weight', async () => {
  const pacer = new Pacer({ perSecond: 100, burst: 1 });
  expect(pacer.wait(newResponse(), 20)).toBeUndefined();
  expect(await pausesOf(pacer, 2)).toEqual([190, 200]);
});
