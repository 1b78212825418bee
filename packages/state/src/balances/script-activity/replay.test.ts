/**
 * Invariant 4: active and new scripts of intervals, and how a reorg restores them from seen_before.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NEVER_SEEN, replay, rewind, type ScriptActivity } from './replay.ts';

const MINUTE = 60_000n;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

const block = (index: number, chainTime: bigint, ...scripts: number[]) => ({
  index,
  chainTime,
  scripts: new Set(scripts),
});
const seen = (first: bigint, last = first): ScriptActivity => ({ first, last, touched: last });

test('it counts a script once in each interval, and once as new', () => {
  const { counts, after } = replay(
    [block(1, DAY, 7), block(2, DAY + MINUTE - 1n, 7), block(3, DAY + MINUTE, 7, 8), block(4, DAY + HOUR, 7)],
    new Map(),
  );
  expect(counts).toEqual([
    { active: { minute: 1, hour: 1, day: 1 }, new: 1 },
    { active: { minute: 0, hour: 0, day: 0 }, new: 0 },
    { active: { minute: 2, hour: 1, day: 1 }, new: 1 },
    { active: { minute: 1, hour: 1, day: 0 }, new: 0 },
  ]);
  expect(after).toEqual(
    new Map([
      [7, seen(DAY, DAY + HOUR)],
      [8, seen(DAY + MINUTE)],
    ]),
  );
});

test('it counts a known script as active unless it was touched earlier in the interval', () => {
  const before = new Map([
    [7, seen(1n, DAY)],
    [8, seen(1n, DAY - 1n)],
  ]);
  const { counts } = replay([block(1, DAY + 1n, 7, 8)], before);
  expect(counts).toEqual([{ active: { minute: 1, hour: 1, day: 1 }, new: 0 }]);
});

test('it counts a script with UTXOs at a bootstrap block as seen but not active', () => {
  const atStart: ScriptActivity = { first: DAY, last: DAY, touched: null };
  const { counts, after, seenBefore } = replay([block(1, DAY, 7)], new Map([[7, atStart]]));
  expect(counts).toEqual([{ active: { minute: 1, hour: 1, day: 1 }, new: 0 }]);
  expect(after.get(7)).toEqual(seen(DAY));
  expect(seenBefore).toEqual([{ chainIndex: 1, scripts: [7], lastSeen: [DAY] }]);
});

test('it forgets a new script when its block is removed', () => {
  const { seenBefore, after } = replay([block(1, DAY, 7, 8)], new Map([[8, seen(5n)]]));
  expect(rewind(after, seenBefore.toReversed())).toEqual(
    new Map([
      [7, NEVER_SEEN],
      [8, seen(5n)],
    ]),
  );
});

test('it restores the activity at any lower block from rows of seen_before', () => {
  const chain = fc.array(
    fc.record({ step: fc.bigInt(0n, HOUR), scripts: fc.uniqueArray(fc.integer({ min: 1, max: 6 })) }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(chain, fc.nat(12), (steps, remaining) => {
      let time = DAY;
      const blocks = steps.map(({ step, scripts }, index) => {
        time += step;
        return block(index, time, ...scripts);
      });
      const whole = replay(blocks, new Map());
      const rest = replay(blocks.slice(0, remaining), new Map());
      const rewound = rewind(whole.after, whole.seenBefore.slice(remaining).toReversed());
      for (const [script, activity] of rewound) expect(activity).toEqual(rest.after.get(script) ?? NEVER_SEEN);
      // A reorg subtracts the counts that were added.
      expect(replay(blocks.slice(remaining), rewound).counts).toEqual(whole.counts.slice(remaining));
    }),
  );
});
