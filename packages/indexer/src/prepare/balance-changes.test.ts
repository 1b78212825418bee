import { expect, test } from 'vitest';
import { BalanceChanges, hourOf } from './balance-changes.ts';

test('an hour begins with its first millisecond', () => {
  expect([0n, 3_599_999n, 3_600_000n, 1_750_000_000_000n].map(hourOf)).toEqual([0, 0, 1, 486_111]);
});

const NOTHING = {
  balance: 0n,
  utxoCount: 0,
  transactionCount: 0,
  acceptedCount: 0,
  receivingCount: 0,
  sendingCount: 0,
  coinbaseCount: 0,
  received: 0n,
  sent: 0n,
};

test('what is undone and done again in the same hour changes nothing', () => {
  const accepted = { isCoinbase: true, moves: new Map([[7, { sent: 10n, received: 60n }]]) };
  const changes = new BalanceChanges();
  changes.addUtxos(7, 100, -50n, -1);
  changes.addAccepted(accepted, -1);
  const again = new BalanceChanges();
  again.addUtxos(7, 100, 50n, 1);
  again.addAccepted(accepted, 1);
  changes.addAll(again);
  expect(changes.scripts()).toEqual([{ ...NOTHING, script: 7 }]);
  expect(changes.hourly()).toEqual([]);
});

test('what is undone and done again in another hour moves to it', () => {
  const changes = new BalanceChanges();
  changes.addUtxos(7, 100, -50n, -1);
  changes.addUtxos(7, 101, 50n, 1);
  expect(changes.scripts()).toEqual([{ ...NOTHING, script: 7 }]);
  expect(changes.hourly()).toEqual([
    { script: 7, hour: 100, change: -50n },
    { script: 7, hour: 101, change: 50n },
  ]);
});

test('changes come in the order of the scripts, with those that only a transaction touches', () => {
  const changes = new BalanceChanges();
  changes.addUtxos(9, 100, 30n, 2);
  changes.addTransaction(9);
  changes.addTransaction(9);
  changes.addTransaction(8);
  changes.addUtxos(10, 101, -10n, -1);
  expect(changes.scripts()).toEqual([
    { ...NOTHING, script: 8, transactionCount: 1 },
    { ...NOTHING, script: 9, balance: 30n, utxoCount: 2, transactionCount: 2 },
    { ...NOTHING, script: 10, balance: -10n, utxoCount: -1 },
  ]);
  expect(changes.supply).toBe(20n);
});

test('an accepted transaction counts once for a script, whatever it moves there', () => {
  const changes = new BalanceChanges();
  changes.addAccepted(
    {
      isCoinbase: false,
      moves: new Map([
        [7, { sent: 30n, received: 20n }],
        [8, { sent: 0n, received: 9n }],
      ]),
    },
    1,
  );
  changes.addAccepted({ isCoinbase: true, moves: new Map([[7, { sent: 0n, received: 5n }]]) }, 1);
  changes.addAccepted({ isCoinbase: false, moves: new Map([[8, { sent: 9n, received: 0n }]]) }, -1);
  expect(changes.scripts()).toEqual([
    {
      ...NOTHING,
      script: 7,
      acceptedCount: 2,
      receivingCount: 2,
      sendingCount: 1,
      coinbaseCount: 1,
      received: 25n,
      sent: 30n,
    },
    { ...NOTHING, script: 8, receivingCount: 1, sendingCount: -1, received: 9n, sent: -9n },
  ]);
});
