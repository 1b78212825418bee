import { expect, test } from 'vitest';
import { BalanceChanges } from './balance-changes.ts';
import { Ledger } from './ledger.ts';

const HOUR = 486_111;

const utxo = (transaction: number, index: number, script: number, amount: bigint) => ({
  transaction,
  index,
  script,
  amount,
  blockDaaScore: 1n,
  isCoinbase: false,
});

test('a UTXO that is made and spent in one batch leaves no trace', () => {
  const changes = new BalanceChanges();
  const ledger = new Ledger(changes);
  ledger.make(utxo(1, 0, 7, 50n), HOUR);
  ledger.spend(1, 0, { script: 7, amount: 50n }, HOUR);
  expect([...ledger.made]).toEqual([]);
  expect(ledger.spent).toEqual([]);
  expect(changes.scripts()).toMatchObject([{ script: 7, balance: 0n, utxoCount: 0 }]);
  expect(changes.hourly()).toEqual([]);
});

test('a UTXO of before is spent from the table', () => {
  const changes = new BalanceChanges();
  const ledger = new Ledger(changes);
  ledger.spend(3, 2, { script: 7, amount: 50n }, HOUR);
  ledger.make(utxo(4, 0, 8, 49n), HOUR + 1);
  expect(ledger.spent).toEqual([{ transaction: 3, index: 2 }]);
  expect(changes.scripts()).toMatchObject([
    { script: 7, balance: -50n, utxoCount: -1 },
    { script: 8, balance: 49n, utxoCount: 1 },
  ]);
  expect(changes.hourly()).toEqual([
    { script: 7, hour: HOUR, change: -50n },
    { script: 8, hour: HOUR + 1, change: 49n },
  ]);
});
