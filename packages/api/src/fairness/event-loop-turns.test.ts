import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EventLoopTurns, Slices } from './event-loop-turns.ts';

function busyFor(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

it('grants one slice per turn of the event loop, to callers in rounds', async () => {
  const turns = new EventLoopTurns();
  const granted: string[] = [];
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) {
    void turns.next(name.charAt(0)).then(() => granted.push(name));
  }
  for (let count = 1; count <= 5; count += 1) {
    await turn();
    expect(granted.length).toBeLessThanOrEqual(count + 1);
  }
  await turn();
  expect(granted).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
});

it('maps many items in slices without blocking the event loop, and few items at once', async () => {
  const turns = new EventLoopTurns();
  const items = Array.from({ length: 100 }, (_, item) => item);
  const begun = performance.now();
  const gaps: number[] = [];
  let last = begun;
  const watch = setInterval(() => {
    gaps.push(performance.now() - last);
    last = performance.now();
  }, 1);
  const mapped = await Promise.all(
    ['a', 'b', 'c'].map((caller) =>
      new Slices(turns, caller).map(items, (item) => {
        busyFor(1);
        return item * 2;
      }),
    ),
  );
  clearInterval(watch);
  for (const results of mapped) expect(results).toEqual(items.map((item) => item * 2));
  // 300 ms of work in slices of some 5 ms each.
  expect(gaps.length).toBeGreaterThan(20);

  let isDone = false;
  void new Slices(turns, 'a').map([1, 2, 3], (item) => item).then(() => (isDone = true));
  await Promise.resolve();
  await Promise.resolve();
  expect(isDone).toBe(true);
});
