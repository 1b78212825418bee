/** The sums equal those of the changes of batches, which a reorg can revert and which are simpler. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BalanceDeltas } from '../balances/balance-deltas.ts';
import { getOrInsert, type ScriptDelta } from '../state-changes.ts';
import { type HourlyChange, HourlyDeltas } from '../balances/hourly-changes/hourly-deltas.ts';
import { IntervalDeltas, totalsOf } from '../network-intervals/interval-deltas.ts';
import { replay, type TouchingBlock } from '../balances/script-activity/replay.ts';
import { ChainTotals } from './chain-totals.ts';

const move = fc.record({ script: fc.integer({ min: 1, max: 12 }), amount: fc.bigInt(0n, 5n) });
const transaction = fc.record({
  isCoinbase: fc.boolean(),
  spent: fc.array(move, { maxLength: 4 }),
  created: fc.array(move, { maxLength: 4 }),
});
const chain = fc.array(
  fc.record({
    // Some blocks share a time; others skip minutes, hours and days.
    elapsedMs: fc.oneof(fc.constant(0), fc.nat(30_000), fc.nat(90_000_000)),
    blocks: fc.nat(5),
    redBlocks: fc.nat(2),
    work: fc.bigInt(0n, 100n),
    transactions: fc.array(transaction, { maxLength: 5 }),
  }),
  { minLength: 1, maxLength: 12 },
);
const GENESIS_TIME = 1_637_609_671_037n;

test('it sums up a chain as the changes of batches do', () => {
  fc.assert(
    fc.property(chain, (blocks) => {
      const totals = new ChainTotals();
      const [balances, hours] = [new BalanceDeltas(), new HourlyDeltas()];
      const intervals = new IntervalDeltas(GENESIS_TIME);
      const touching: TouchingBlock[] = [];
      let chainTime = GENESIS_TIME;
      const counted = blocks.map(({ elapsedMs, transactions, ...block }, index) => {
        chainTime += BigInt(elapsedMs);
        const chainBlock = { ...block, index, chainTime };
        totals.beginBlock(chainBlock);
        const accepted = transactions.map(({ isCoinbase, spent, created }) => {
          const deltas = new Map<number, ScriptDelta>();
          const deltaOf = (script: number) =>
            getOrInsert(deltas, script, () => ({ sent: 0n, received: 0n, utxoCount: 0 }));
          totals.beginTransaction(isCoinbase);
          for (const { script, amount } of spent) {
            totals.spend(script, amount);
            deltaOf(script).sent += amount;
            deltaOf(script).utxoCount -= 1;
          }
          for (const { script, amount } of created) {
            totals.create(script, amount);
            deltaOf(script).received += amount;
            deltaOf(script).utxoCount += 1;
          }
          balances.add({ isCoinbase, deltas }, 1);
          hours.add({ chainBlock, deltas }, 1);
          return { isCoinbase, deltas };
        });
        touching.push({ index, chainTime, scripts: new Set(accepted.flatMap(({ deltas }) => [...deltas.keys()])) });
        return totalsOf(chainBlock, accepted);
      });
      const { counts, after } = replay(touching, new Map());
      counted.forEach((block, i) => intervals.append(block, counts[i] as NonNullable<(typeof counts)[number]>));

      const scripts = [...totals.scripts()].map(({ lastChange: _change, lastChangeHour: _hour, ...total }) => total);
      expect(scripts).toEqual(
        balances.rows().map(({ balance: _balance, transactionCount: _count, ...delta }) => {
          const { first, last } = after.get(delta.script) as { first: bigint; last: bigint };
          return { ...delta, firstSeen: Number(first), lastSeen: Number(last) };
        }),
      );
      expect(hoursOf(totals)).toEqual(hours.rows());
      const minted = counted.reduce((sum, block) => sum + block.minted, 0n);
      expect(totals.intervals().toSorted(byLengthAndStart)).toEqual(
        intervals
          .rows()
          .filter(({ chainBlocks }) => chainBlocks > 0)
          .map(({ mintedLater, start, ...delta }) => ({ ...delta, start: Number(start), supply: minted - mintedLater }))
          .toSorted(byLengthAndStart),
      );
    }),
  );
});

test('it reports that a sum may have overflowed', () => {
  const totals = new ChainTotals();
  totals.beginBlock({ chainTime: GENESIS_TIME, blocks: 0, redBlocks: 0, work: 0n });
  totals.beginTransaction(false);
  totals.create(1, 2n ** 61n);
  totals.create(1, 2n ** 61n);
  expect(totals.isExact).toBe(true);
  totals.create(1, 1n);
  expect(totals.isExact).toBe(false);
});

test('it keeps scripts with large keys', () => {
  const totals = new ChainTotals();
  totals.beginBlock({ chainTime: GENESIS_TIME, blocks: 0, redBlocks: 0, work: 0n });
  totals.beginTransaction(true);
  for (const script of [1, 1_000_000]) totals.create(script, 7n);
  expect([...totals.scripts()].map(({ script, received }) => [script, received])).toEqual([
    [1, 7n],
    [1_000_000, 7n],
  ]);
});

function byLengthAndStart(one: { length: string; start: number }, other: { length: string; start: number }): number {
  return one.length.localeCompare(other.length) || one.start - other.start;
}

/** Returns the earlier and the latest hours as the one list that they make up. */
function hoursOf(totals: ChainTotals): HourlyChange[] {
  const earlier = [...totals.earlierHours()].map(({ script_id, hour, change }) => ({
    script: script_id,
    hour,
    change,
  }));
  const latest = [...totals.scripts()].map(({ script, lastChange, lastChangeHour }) => ({
    script,
    hour: lastChangeHour,
    change: lastChange,
  }));
  const latestOf = new Map(latest.map((change) => [change.script, change]));
  expect(earlier.filter(({ script, hour }) => hour >= (latestOf.get(script)?.hour ?? 0))).toEqual([]);
  return [...earlier, ...latest.filter(({ change }) => change !== 0n)].sort(
    (one, other) => one.script - other.script || one.hour - other.hour,
  );
}
