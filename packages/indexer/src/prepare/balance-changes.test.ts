import { expect, test } from 'vitest';
import { BalanceChanges, hourOf } from './balance-changes.ts';

test('an hour begins with its first millisecond', () => {
  expect([0n, 3_599_999n, 3_600_000n, 1_750_000_000_000n].map(hourOf)).toEqual([0, 0, 1, 486_111]);
});

test('what is undone and done again in the same hour changes nothing', () => {
  const changes = new BalanceChanges();
  changes.addCoins(7, 100, -50n, -1);
  const again = new BalanceChanges();
  again.addCoins(7, 100, 50n, 1);
  changes.addAll(again);
  expect(changes.scripts()).toEqual([]);
  expect(changes.hourly()).toEqual([]);
});

test('what is undone and done again in another hour moves to it', () => {
  const changes = new BalanceChanges();
  changes.addCoins(7, 100, -50n, -1);
  changes.addCoins(7, 101, 50n, 1);
  expect(changes.scripts()).toEqual([]);
  expect(changes.hourly()).toEqual([
    { script: 7, hour: 100, change: -50n },
    { script: 7, hour: 101, change: 50n },
  ]);
});

test('changes come in the order of the scripts, with those that only a transaction touches', () => {
  const changes = new BalanceChanges();
  changes.addCoins(9, 100, 30n, 2);
  changes.addTransaction(9);
  changes.addTransaction(9);
  changes.addTransaction(8);
  changes.addCoins(10, 101, -10n, -1);
  expect(changes.scripts()).toEqual([
    { script: 8, balance: 0n, utxoCount: 0, transactionCount: 1 },
    { script: 9, balance: 30n, utxoCount: 2, transactionCount: 2 },
    { script: 10, balance: -10n, utxoCount: -1, transactionCount: 0 },
  ]);
  expect(changes.supply).toBe(20n);
});
