import { describe, expect, test } from 'vitest';
import { SOMPI_PER_KAS, toHex } from './format.ts';
import { computeMass, normalizedMass, storageMass, transientMass, transientMassFrom } from './mass.ts';
import type { Transaction, TransactionOutput } from './model.ts';
import { recordedBlocks, toTransaction } from './testing/recorded-blocks.ts';
import { NATIVE_SUBNETWORK } from './transaction-id.ts';

const recorded = recordedBlocks.flatMap(({ transactions }) => transactions);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

describe('recorded transactions', () => {
  test.each(recorded)('$verboseData.transactionId has its compute mass', (transaction) => {
    expect(computeMass(toTransaction(transaction))).toBe(BigInt(transaction.verboseData.computeMass));
  });

  const outputs = new Map(
    recorded.map((transaction) => [transaction.verboseData.transactionId, toTransaction(transaction).outputs]),
  );
  const withKnownUtxos = recorded
    .map(toTransaction)
    .map((transaction) => ({
      transaction,
      spent: transaction.inputs.map(
        ({ previousOutpoint }) => outputs.get(toHex(previousOutpoint.transactionId))?.[previousOutpoint.index],
      ),
    }))
    .filter(
      (found): found is { transaction: Transaction; spent: TransactionOutput[] } => !found.spent.includes(undefined),
    );

  test('have the storage mass computed from their UTXOs', () => {
    const payments = withKnownUtxos.filter(({ spent }) => spent.length > 0);
    expect(payments.length).toBeGreaterThanOrEqual(8);
    for (const { transaction, spent } of payments) {
      expect(storageMass(spent, transaction.outputs)).toBe(transaction.storageMass);
    }
  });

  test('the transient mass follows from the compute mass', () => {
    for (const { transaction, spent } of withKnownUtxos) {
      if (spent.length === 0) continue;
      const { version, inputs, outputs } = transaction;
      const found = transientMassFrom(computeMass(transaction), version, {
        sigOps: sum(inputs.map(({ sigOpCount }) => sigOpCount)),
        computeBudget: sum(inputs.map(({ computeBudget }) => computeBudget)),
        outputs: outputs.length,
        outputScriptBytes: sum(outputs.map(({ scriptPublicKey }) => scriptPublicKey.script.length)),
      });
      expect(found).toBe(transientMass(transaction));
    }
  });

  test('coinbases have no mass', () => {
    const coinbases = withKnownUtxos.filter(({ spent }) => spent.length === 0).map(({ transaction }) => transaction);
    expect(coinbases).toHaveLength(recordedBlocks.length);
    for (const coinbase of coinbases) {
      expect([computeMass(coinbase), transientMass(coinbase), storageMass([], coinbase.outputs)]).toEqual([0n, 0n, 0n]);
    }
  });
});

const kas = (amount: number) => BigInt(amount) * SOMPI_PER_KAS;

const utxo = (amount: bigint, scriptBytes = 34, hasCovenant = false): TransactionOutput => ({
  amount,
  scriptPublicKey: { version: 0, script: new Uint8Array(scriptBytes) },
  covenant: hasCovenant ? { authorizingInput: 0, covenantId: new Uint8Array(32) } : undefined,
});

test('fee rates are by the largest mass, of which transient mass counts half', () => {
  expect(normalizedMass(3n, 2n, 5n)).toBe(3n);
  expect(normalizedMass(3n, 4n, 6n)).toBe(4n);
  expect(normalizedMass(3n, 4n, 12n)).toBe(6n);
});

test('compute and transient mass of a small payment, counted by hand', () => {
  const payment: Transaction = {
    version: 0,
    inputs: [
      {
        previousOutpoint: { transactionId: new Uint8Array(32), index: 0 },
        signatureScript: new Uint8Array(66),
        sequence: 0n,
        sigOpCount: 1,
        computeBudget: 0,
      },
    ],
    outputs: [utxo(1n)],
    lockTime: 0n,
    subnetworkId: NATIVE_SUBNETWORK,
    gas: 0n,
    payload: new Uint8Array(0),
    storageMass: 0n,
  };
  // Fixed fields, one input, one output.
  const bytes = 94 + (36 + 8 + 66 + 8) + (8 + 2 + 8 + 34);
  expect(computeMass(payment)).toBe(BigInt(bytes + 10 * (2 + 34) + 1000));
  expect(transientMass(payment)).toBe(BigInt(4 * bytes));
});

describe('storage mass', () => {
  /** The mass of a UTXO of 1 KAS; one of 2 KAS counts half of it. */
  const ONE = 10_000n;

  test('is zero if UTXOs are merged', () => {
    expect(storageMass([utxo(kas(1)), utxo(kas(1)), utxo(kas(1))], [utxo(kas(3))])).toBe(0n);
  });

  test('subtracts the input for one UTXO into two', () => {
    expect(storageMass([utxo(kas(2))], [utxo(kas(1)), utxo(kas(1))])).toBe(2n * ONE - ONE / 2n);
  });

  test('subtracts each input by its amount for two UTXOs into two', () => {
    expect(storageMass([utxo(kas(1)), utxo(kas(4))], [utxo(kas(1)), utxo(kas(4))])).toBe(0n);
  });

  test('subtracts the mean of three inputs', () => {
    const spent = [utxo(kas(1)), utxo(kas(1)), utxo(kas(10))];
    expect(storageMass(spent, [utxo(kas(1)), utxo(kas(11))])).toBe(ONE + ONE / 11n - 3n * (ONE / 4n));
  });

  test('counts a UTXO with a long script or a covenant as several', () => {
    expect(storageMass([utxo(kas(1))], [utxo(kas(1), 37)])).toBe(0n);
    expect(storageMass([utxo(kas(1))], [utxo(kas(1), 38)])).toBe(4n * ONE - ONE);
    expect(storageMass([utxo(kas(1))], [utxo(kas(1), 34, true)])).toBe(4n * ONE - ONE);
  });

  test('throws for a UTXO with amount zero', () => {
    expect(() => storageMass([utxo(kas(1))], [utxo(0n)])).toThrow(RangeError);
  });
});
