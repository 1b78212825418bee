import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EventLoopTurns } from '../fairness/event-loop-turns.ts';
import { fanOut } from './fan-out.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Subscribers that take a millisecond each. */
function subscribers(count: number, passed: number[] = []) {
  return Array.from({ length: count }, (_, index) => ({
    onRead: () => {
      passed.push(index);
      vi.advanceTimersByTime(1);
    },
  }));
}

const nothing = { blocks: [], step: undefined };

test('it serves others while it passes on a step to many subscribers', async () => {
  const passed: number[] = [];
  const fanningOut = fanOut(new EventLoopTurns(), subscribers(40, passed), nothing);
  await turn();
  expect(passed.length).toBeLessThan(20);
  await fanningOut;
  expect(passed).toEqual(Array.from({ length: 40 }, (_, index) => index));
});

test('it asks for a pause of a quarter of the time that it took, and of at most a tenth of a second', async () => {
  expect(await fanOut(new EventLoopTurns(), [], nothing)).toBe(0);
  expect(await fanOut(new EventLoopTurns(), subscribers(20), nothing)).toBe(5);
  expect(await fanOut(new EventLoopTurns(), subscribers(800), nothing)).toBe(100);
});
