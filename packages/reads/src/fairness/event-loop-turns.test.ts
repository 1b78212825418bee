import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EventLoopTurns, Slices } from './event-loop-turns.ts';

function busyFor(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

it('grants slices to callers in rounds, for a share of each turn of the event loop', async () => {
  const turns = new EventLoopTurns();
  const granted: string[] = [];
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) {
    const useSlice = async (): Promise<void> => {
      await turns.next(name.charAt(0));
      granted.push(name);
      // As long as the share of a turn.
      busyFor(5);
    };
    void useSlice();
  }
  for (let count = 1; count <= 5; count += 1) {
    await turn();
    expect(granted.length).toBeLessThanOrEqual(count + 1);
  }
  await turn();
  expect(granted).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
});

it('grants small slices to many callers in one turn', async () => {
  const turns = new EventLoopTurns();
  let granted = 0;
  for (let caller = 0; caller < 20; caller += 1) void turns.next(String(caller)).then(() => (granted += 1));
  await turn();
  await turn();
  expect(granted).toBe(20);
});

it('grants what is asked for when the last one that waited has its slice', async () => {
  const turns = new EventLoopTurns();
  const granted: number[] = [];
  const useSlices = async (): Promise<void> => {
    for (let slice = 1; slice <= 3; slice += 1) {
      await turns.next('a');
      granted.push(slice);
    }
  };
  await useSlices();
  expect(granted).toEqual([1, 2, 3]);
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
