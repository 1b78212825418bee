import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HourlyDeltas, hourOf, type LastChange } from './hourly-deltas.ts';

const HOUR_MS = 3_600_000n;

function delta(script: number, hour: bigint, change: bigint) {
  const chainBlock = { index: 1, chainTime: hour * HOUR_MS, blocks: 1, redBlocks: 0, work: 1n };
  const amounts = change < 0n ? { sent: -change, received: 0n } : { sent: 0n, received: change };
  return { chainBlock, deltas: new Map([[script, { ...amounts, utxoCount: 1 }]]) };
}

test('it begins an hour with its first millisecond', () => {
  expect([0n, 3_599_999n, 3_600_000n, 1_750_000_000_000n].map(hourOf)).toEqual([0, 0, 1, 486_111]);
});

test('it nets a transaction that is reverted and accepted again in the same hour to zero', () => {
  const changes = new HourlyDeltas();
  changes.add(delta(7, 100n, 50n), -1);
  changes.add(delta(7, 100n, 50n), 1);
  expect(changes.rows()).toEqual([]);
});

test('it moves a transaction that is accepted again in another hour', () => {
  const changes = new HourlyDeltas();
  changes.add(delta(7, 100n, 50n), -1);
  changes.add(delta(7, 101n, 50n), 1);
  changes.add(delta(6, 101n, -8n), 1);
  expect(changes.rows()).toEqual([
    { script: 6, hour: 101, change: -8n },
    { script: 7, hour: 100, change: -50n },
    { script: 7, hour: 101, change: 50n },
  ]);
});

const storedOf = (last: ReadonlyMap<number, LastChange>) =>
  new Map([...last].map(([script, lastChange]) => [script, { lastChange }]));

test('it adds to the latest hour, and writes it to the earlier ones when a later one begins', () => {
  const changes = new HourlyDeltas();
  changes.add(delta(6, 100n, 5n), 1);
  changes.add(delta(7, 100n, 1n), 1);
  changes.add(delta(7, 101n, 2n), 1);
  changes.add(delta(8, 99n, 3n), 1);
  changes.add(delta(9, 100n, 4n), 1);
  const stored = new Map([6, 7, 8].map((script) => [script, { hour: 100, change: 50n }]));
  changes.settle(storedOf(stored));
  expect(changes.last).toEqual(
    new Map([
      [6, { hour: 100, change: 55n }],
      [7, { hour: 101, change: 2n }],
      [9, { hour: 100, change: 4n }],
    ]),
  );
  expect(changes.earlier).toEqual([
    { script: 7, hour: 100, change: 51n },
    { script: 8, hour: 99, change: 3n },
  ]);
});

test('it keeps an hour whose changes are reverted, and adds to hours before it', () => {
  const changes = new HourlyDeltas();
  changes.add(delta(7, 101n, 50n), -1);
  changes.add(delta(7, 100n, 50n), 1);
  changes.settle(storedOf(new Map([[7, { hour: 101, change: 50n }]])));
  expect(changes.last).toEqual(new Map([[7, { hour: 101, change: 0n }]]));
  expect(changes.earlier).toEqual([{ script: 7, hour: 100, change: 50n }]);
});

const script = fc.integer({ min: 1, max: 3 });
const hour = fc.integer({ min: 100, max: 104 });
const batch = fc.array(fc.record({ script, hour, change: fc.bigInt(-3n, 3n), sign: fc.constantFrom(1, -1) }), {
  maxLength: 8,
});

test('the latest and the earlier hours of any batches make up all changes, each once', () => {
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 8 }), (batches) => {
      const all = new HourlyDeltas();
      const last = new Map<number, LastChange>();
      const earlier = new Map<string, bigint>();
      for (const deltas of batches) {
        const changes = new HourlyDeltas();
        for (const { script, hour, change, sign } of deltas) {
          for (const sums of [all, changes]) sums.add(delta(script, BigInt(hour), change), sign);
        }
        changes.settle(storedOf(last));
        for (const [script, change] of changes.last) {
          expect(change.hour).toBeGreaterThanOrEqual(last.get(script)?.hour ?? 0);
          last.set(script, change);
        }
        for (const { script, hour, change } of changes.earlier) {
          expect(hour).toBeLessThan(last.get(script)?.hour ?? 0);
          const key = `${script} ${hour}`;
          earlier.set(key, (earlier.get(key) ?? 0n) + change);
        }
      }
      for (const [script, { hour, change }] of last) {
        expect(earlier.has(`${script} ${hour}`)).toBe(false);
        earlier.set(`${script} ${hour}`, change);
      }
      const stored = [...earlier].filter(([, change]) => change !== 0n);
      expect(new Map(stored)).toEqual(
        new Map(all.rows().map(({ script, hour, change }) => [`${script} ${hour}`, change])),
      );
    }),
  );
});
