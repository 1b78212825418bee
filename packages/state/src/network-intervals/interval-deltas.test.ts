/** Invariant 4: chain blocks are added to minutes, hours and days, and a reorg removes them. */
import { expect, test } from 'vitest';
import { type ChainBlockTotals, type IntervalDelta, IntervalDeltas, totalsOf } from './interval-deltas.ts';
import { type IntervalLength, startOfInterval } from './intervals.ts';

const DAY = 86_400_000n;
const NOBODY = { active: { minute: 0, hour: 0, day: 0 }, new: 0 };

function blockAt(chainTime: bigint, minted: bigint): ChainBlockTotals {
  const coinbase = new Map([[1, { sent: 0n, received: minted + 2n, utxoCount: 1 }]]);
  const deltas = new Map([
    [1, { sent: 100n, received: 40n, utxoCount: 0 }],
    [2, { sent: 0n, received: 58n, utxoCount: 1 }],
  ]);
  return totalsOf({ index: 1, chainTime, blocks: 3, redBlocks: 1, work: 7n }, [
    { isCoinbase: true, deltas: coinbase },
    { isCoinbase: false, deltas },
  ]);
}

function find(deltas: IntervalDeltas, length: IntervalLength, start: bigint): IntervalDelta | undefined {
  return deltas.rows().find((delta) => delta.length === length && delta.start === start);
}

test('it begins intervals at whole minutes, hours and days (UTC)', () => {
  const time = BigInt(Date.parse('2026-03-04T05:06:07.089Z'));
  const starts = (['minute', 'hour', 'day'] as const).map((length) => new Date(Number(startOfInterval(length, time))));
  expect(starts.map((start) => start.toISOString())).toEqual([
    '2026-03-04T05:06:00.000Z',
    '2026-03-04T05:00:00.000Z',
    '2026-03-04T00:00:00.000Z',
  ]);
  expect(startOfInterval('day', DAY)).toBe(DAY);
  expect(startOfInterval('day', DAY - 1n)).toBe(0n);
});

test('it counts coinbases as minted, but not as transactions, fees or volume', () => {
  expect(blockAt(DAY, 50n)).toMatchObject({ transactions: 1, fees: 2n, volume: 98n, minted: 50n });
});

test('it counts a block in its minute, hour and day', () => {
  const deltas = new IntervalDeltas(DAY);
  deltas.append(blockAt(DAY + 60_000n, 50n), { active: { minute: 3, hour: 2, day: 1 }, new: 1 });
  const expected = {
    chainBlocks: 1,
    blocks: 3,
    redBlocks: 1,
    transactions: 1,
    fees: 2n,
    volume: 98n,
    minted: 50n,
    work: 7n,
  };
  expect(find(deltas, 'minute', DAY + 60_000n)).toMatchObject({ ...expected, activeScripts: 3, newScripts: 1 });
  expect(find(deltas, 'hour', DAY)).toMatchObject({ ...expected, activeScripts: 2, newScripts: 1 });
  expect(find(deltas, 'day', DAY)).toMatchObject({ ...expected, activeScripts: 1, newScripts: 1 });
  expect(deltas.rows()).toHaveLength(4);
});

test('it excludes later mints from the supply at the end of an interval', () => {
  const deltas = new IntervalDeltas(DAY);
  for (const [after, minted] of [
    [1n, 10n],
    [60_000n, 20n],
    [120_000n, 30n],
  ] as const) {
    deltas.append(blockAt(DAY + after, minted), NOBODY);
  }
  expect(find(deltas, 'minute', DAY)?.mintedLater).toBe(50n);
  expect(find(deltas, 'minute', DAY + 60_000n)?.mintedLater).toBe(30n);
  expect(find(deltas, 'minute', DAY + 120_000n)?.mintedLater).toBe(0n);
  expect(find(deltas, 'day', DAY)?.mintedLater).toBe(0n);
});

test('it nets a block that is removed and added again to zero', () => {
  const deltas = new IntervalDeltas(DAY);
  const activity = { active: { minute: 2, hour: 1, day: 0 }, new: 1 };
  deltas.remove(blockAt(DAY, 50n), activity);
  deltas.append(blockAt(DAY, 50n), activity);
  const nothing = { chainBlocks: 0, blocks: 0, redBlocks: 0, transactions: 0, activeScripts: 0, newScripts: 0 };
  expect(deltas.rows()).toHaveLength(3);
  for (const delta of deltas.rows()) {
    expect(delta).toMatchObject({ ...nothing, fees: 0n, volume: 0n, minted: 0n, work: 0n, mintedLater: 0n });
  }
});

test('it subtracts a removed block from its interval only', () => {
  const deltas = new IntervalDeltas(DAY);
  deltas.remove(blockAt(DAY + 60_000n, 50n), NOBODY);
  expect(find(deltas, 'minute', DAY + 60_000n)).toMatchObject({ chainBlocks: -1, minted: -50n, work: -7n });
  expect(find(deltas, 'minute', DAY)).toMatchObject({ chainBlocks: 0, mintedLater: 0n });
});
