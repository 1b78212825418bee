import { expect, test } from 'vitest';
import type { Utxo } from '../state-changes.ts';
import { UtxoChanges } from './utxos.ts';

const outpoint = (transaction: number, index: number) => ({ transaction, index, script: 7 });

const utxo = (transaction: number, index: number, blockDaaScore = 1n): Utxo => ({
  ...outpoint(transaction, index),
  amount: 50n,
  blockDaaScore,
  isCoinbase: false,
  covenantId: undefined,
});

test('it writes no row for a UTXO that a batch creates and spends', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [], created: [utxo(1, 0)] });
  changes.add({ spent: [outpoint(1, 0)], created: [] });
  expect(changes.created).toEqual([]);
  expect(changes.spent).toEqual([]);
});

test('it deletes a UTXO of an earlier batch', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [outpoint(3, 2)], created: [utxo(4, 0)] });
  expect(changes.spent).toEqual([outpoint(3, 2)]);
  expect(changes.created).toEqual([utxo(4, 0)]);
});

test('it tells UTXOs apart by keys of any generation', () => {
  const changes = new UtxoChanges();
  const key = 7 * 2 ** 36;
  changes.add({ spent: [], created: [utxo(key, 0), utxo(key, 1), utxo(key + 1, 0), utxo(1, 0)] });
  expect(changes.created).toHaveLength(4);
  changes.add({ spent: [outpoint(key, 1)], created: [] });
  expect(changes.spent).toEqual([]);
  expect(changes.created).toEqual([utxo(key, 0), utxo(key + 1, 0), utxo(1, 0)]);
});

test('it throws if a UTXO is spent twice', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [outpoint(1, 0)], created: [] });
  expect(() => changes.add({ spent: [outpoint(1, 0)], created: [] })).toThrow('spent twice');
});

test('it keeps the row of a UTXO that the new chain creates again', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [], created: [utxo(1, 0), utxo(1, 1, 2n), utxo(1, 2), utxo(1, 3)] });
  changes.add({ spent: [outpoint(1, 2), outpoint(1, 3)], created: [] });
  // The removed chain spent output 3, too, so it has no row.
  changes.revert({ created: [utxo(1, 0), utxo(1, 1), utxo(1, 2), utxo(2, 0)], spent: [] });
  expect(changes.created).toEqual([]);
  expect(changes.acceptedAgain).toEqual([utxo(1, 1, 2n)]);
  expect(changes.spent).toEqual([utxo(1, 2), utxo(2, 0)]);
});

test('it restores a UTXO that only the removed chain spent', () => {
  const changes = new UtxoChanges();
  changes.add({ spent: [outpoint(1, 0), outpoint(1, 1)], created: [] });
  changes.revert({ created: [], spent: [utxo(1, 1), utxo(1, 2)] });
  expect(changes.spent).toEqual([outpoint(1, 0)]);
  expect(changes.created).toEqual([utxo(1, 2)]);
});
