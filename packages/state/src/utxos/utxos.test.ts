import { expect, test } from 'vitest';
import type { Utxo } from '../derived-state.ts';
import { UtxoChanges } from './utxos.ts';

const utxo = (transaction: number, index: number): Utxo => ({
  transaction,
  index,
  script: 7,
  amount: 50n,
  blockDaaScore: 1n,
  isCoinbase: false,
});

test('it writes no row for a UTXO that a batch creates and spends', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [], created: [utxo(1, 0)] });
  changes.add({ spent: [{ transaction: 1, index: 0 }], created: [] });
  expect([...changes.created]).toEqual([]);
  expect(changes.spent).toEqual([]);
});

test('it deletes a UTXO of an earlier batch', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [{ transaction: 3, index: 2 }], created: [utxo(4, 0)] });
  expect(changes.spent).toEqual([{ transaction: 3, index: 2 }]);
  expect([...changes.created]).toEqual([utxo(4, 0)]);
});

test('it tells UTXOs apart by keys of any generation', () => {
  const changes = new UtxoChanges();
  const key = 7 * 2 ** 36;
  changes.add({ spent: [], created: [utxo(key, 0), utxo(key, 1), utxo(key + 1, 0), utxo(1, 0)] });
  expect(changes.createdCount).toBe(4);
  changes.add({
    spent: [
      { transaction: key, index: 1 },
      { transaction: key, index: 1 },
    ],
    created: [],
  });
  expect(changes.spent).toEqual([{ transaction: key, index: 1 }]);
  expect(changes.createdCount).toBe(3);
  expect([...changes.created]).toEqual([utxo(key, 0), utxo(key + 1, 0), utxo(1, 0)]);
});
