import { expect, test } from 'vitest';
import { Ledger } from './ledger.ts';

const coin = (transaction: number, index: number, script: number, amount: bigint) => ({
  transaction,
  index,
  script,
  amount,
  blockDaaScore: 1n,
  isCoinbase: false,
});

test('a coin that is made and spent in one batch leaves no trace but the balances', () => {
  const ledger = new Ledger();
  ledger.make(coin(1, 0, 7, 50n));
  ledger.spend(1, 0, { script: 7, amount: 50n });
  expect([...ledger.made]).toEqual([]);
  expect(ledger.spent).toEqual([]);
  expect(ledger.balanceChanges.get(7)).toBe(0n);
});

test('a coin of before is spent from the table', () => {
  const ledger = new Ledger();
  ledger.spend(3, 2, { script: 7, amount: 50n });
  ledger.make(coin(4, 0, 8, 49n));
  expect(ledger.spent).toEqual([{ transaction: 3, index: 2 }]);
  expect([...ledger.balanceChanges]).toEqual([
    [7, -50n],
    [8, 49n],
  ]);
});
