import { expect, test } from 'vitest';
import { BalanceDeltas } from './balance-deltas.ts';

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

test('it nets a transaction that is reverted and accepted again to zero', () => {
  const accepted = { isCoinbase: true, deltas: new Map([[7, { sent: 10n, received: 60n, utxoCount: 1 }]]) };
  const changes = new BalanceDeltas();
  changes.add(accepted, -1);
  changes.add(accepted, 1);
  expect(changes.rows()).toEqual([{ ...NOTHING, script: 7 }]);
});

test('it returns rows in the order of scripts, including scripts that new transactions only touch', () => {
  const changes = new BalanceDeltas();
  changes.add({ isCoinbase: false, deltas: new Map([[9, { sent: 0n, received: 30n, utxoCount: 2 }]]) }, 1);
  changes.addTouched([9, 9, 8]);
  changes.add({ isCoinbase: false, deltas: new Map([[10, { sent: 10n, received: 0n, utxoCount: -1 }]]) }, 1);
  expect(changes.rows()).toEqual([
    { ...NOTHING, script: 8, transactionCount: 1 },
    {
      ...NOTHING,
      script: 9,
      balance: 30n,
      utxoCount: 2,
      transactionCount: 2,
      acceptedCount: 1,
      receivingCount: 1,
      received: 30n,
    },
    { ...NOTHING, script: 10, balance: -10n, utxoCount: -1, acceptedCount: 1, sendingCount: 1, sent: 10n },
  ]);
  expect(changes.supply).toBe(20n);
});

test('it counts an accepted transaction once for a script that sends, receives or both', () => {
  const changes = new BalanceDeltas();
  const both = new Map([
    [7, { sent: 30n, received: 20n, utxoCount: 0 }],
    [8, { sent: 0n, received: 9n, utxoCount: 1 }],
  ]);
  changes.add({ isCoinbase: false, deltas: both }, 1);
  changes.add({ isCoinbase: true, deltas: new Map([[7, { sent: 0n, received: 5n, utxoCount: 1 }]]) }, 1);
  changes.add({ isCoinbase: false, deltas: new Map([[8, { sent: 9n, received: 0n, utxoCount: -1 }]]) }, -1);
  expect(changes.rows()).toEqual([
    {
      script: 7,
      balance: -5n,
      utxoCount: 1,
      transactionCount: 0,
      acceptedCount: 2,
      receivingCount: 2,
      sendingCount: 1,
      coinbaseCount: 1,
      received: 25n,
      sent: 30n,
    },
    {
      ...NOTHING,
      script: 8,
      balance: 18n,
      utxoCount: 2,
      receivingCount: 1,
      sendingCount: -1,
      received: 9n,
      sent: -9n,
    },
  ]);
});
