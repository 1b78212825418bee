import { USES } from '@kasgres/programs';
import { expect, test } from 'vitest';
import { countSpends, hourDeltas } from './program-changes.ts';
import { isOfProgram, type ProgramSpend } from './program-spend.ts';

const HOUR = 3_600_000n;
const BOTH = USES.introspection | USES.covenants;

const spend = (transaction: number, uses: number, more: Partial<ProgramSpend> = {}): ProgramSpend => ({
  hash: Buffer.of(1),
  uses,
  transaction,
  chainTime: HOUR,
  fee: 100n,
  ...more,
});

test('each spend counts in the row of each family, and the fee of a transaction once', () => {
  const spends = [spend(1, BOTH), spend(1, USES.covenants), spend(2, USES.covenants, { fee: 7n })];
  expect(hourDeltas(spends, [])).toEqual([
    { hour: 1, use: USES.introspection, spends: 1, fees: 100n },
    { hour: 1, use: USES.covenants, spends: 3, fees: 107n },
  ]);
});

test('a transaction that the new chain accepts in the same hour changes nothing', () => {
  expect(hourDeltas([spend(1, BOTH)], [spend(1, BOTH)])).toEqual([]);
  expect(hourDeltas([spend(1, BOTH, { chainTime: 2n * HOUR })], [spend(1, USES.covenants)])).toEqual([
    { hour: 2, use: USES.introspection, spends: 1, fees: 100n },
    { hour: 2, use: USES.covenants, spends: 1, fees: 100n },
    { hour: 1, use: USES.covenants, spends: -1, fees: -100n },
  ]);
});

test('it nets the spends of each program', () => {
  const other = { hash: Buffer.of(2) };
  expect(countSpends([spend(1, 1), spend(2, 1), spend(3, 1, other)], [spend(1, 1)])).toEqual(
    new Map([
      ['01', 1],
      ['02', 1],
    ]),
  );
});

test('a reveal makes a program if its UTXO has a covenant, or by its opcodes', () => {
  const covenantId = Buffer.alloc(32);
  expect(isOfProgram({ covenantId }, { uses: 0 })).toBe(true);
  expect(isOfProgram({ covenantId: undefined }, { uses: USES.groth16 })).toBe(true);
  expect(isOfProgram({ covenantId: undefined }, { uses: 0 })).toBe(false);
});
