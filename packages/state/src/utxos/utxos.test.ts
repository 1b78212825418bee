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

test('a UTXO that is created and spent in one batch never becomes a row', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [], created: [utxo(1, 0)] });
  changes.add({ spent: [{ transaction: 1, index: 0 }], created: [] });
  expect([...changes.created]).toEqual([]);
  expect(changes.spent).toEqual([]);
});

test('a UTXO of an earlier batch is deleted from the table', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [{ transaction: 3, index: 2 }], created: [utxo(4, 0)] });
  expect(changes.spent).toEqual([{ transaction: 3, index: 2 }]);
  expect([...changes.created]).toEqual([utxo(4, 0)]);
});
