import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkCovenants, covenantId } from './covenants.ts';
import { fromHex, toHex } from './format.ts';
import type { Covenant, Hash, TransactionInput, TransactionOutput } from './model.ts';

const outpoint = (byte: number, index = 0) => ({ transactionId: new Uint8Array(32).fill(byte), index });
const EMPTY_SCRIPT = { version: 0, script: new Uint8Array(0) };

function output(amount: bigint, covenant?: Covenant, script = EMPTY_SCRIPT): TransactionOutput {
  return { amount, scriptPublicKey: script, covenant };
}

function input(byte: number): TransactionInput {
  return {
    previousOutpoint: outpoint(byte),
    signatureScript: new Uint8Array(0),
    sequence: 0n,
    sigOpCount: 0,
    computeBudget: 0,
  };
}

/**
 * Computed with BLAKE2b of Python's hashlib over the serialisation in rusty-kaspa,
 * consensus/core/src/hashing/covenant_id.rs.
 */
describe('the id of a covenant', () => {
  test.each([
    {
      name: 'one output',
      of: outpoint(0),
      outputs: [[0, output(100n)]] as const,
      expected: '60abdd0277b56d9d0d27695522a7e0ab7402c520c0612e7eda78085f3b5e00cd',
    },
    {
      name: 'outputs that are not adjacent',
      of: outpoint(0),
      outputs: [
        [1, output(100n)],
        [3, output(100n)],
      ] as const,
      expected: '9425e2aa2141e9616b68aec6ad76f0ff87a0322f80a93f247271a2cca89d6392',
    },
    {
      name: 'the largest numbers and a long script',
      of: outpoint(0x11, 0xfffffffe),
      outputs: [
        [0, output(2n ** 64n - 1n, undefined, { version: 0, script: Uint8Array.of(0x51) })],
        [
          65_535,
          output(5n, undefined, { version: 65_535, script: Uint8Array.from({ length: 10_240 }, (_, at) => at & 255) }),
        ],
      ] as const,
      expected: '6781e209e474e86a0261bf6ff235b1304a82088f65189e389e08e8cd64a4d354',
    },
  ])('$name', ({ of, outputs, expected }) => {
    expect(toHex(covenantId(of, outputs))).toBe(expected);
  });

  test('it does not commit to the binding', () => {
    const covenant = { authorizingInput: 7, covenantId: new Uint8Array(32).fill(9) };
    expect(covenantId(outpoint(0), [[0, output(100n, covenant)]])).toEqual(
      covenantId(outpoint(0), [[0, output(100n)]]),
    );
  });
});

const ID_42 = new Uint8Array(32).fill(42);

const bind = (id: Hash, authorizingInput = 0): Covenant => ({ authorizingInput, covenantId: id });
const idOf = (byte: number, ...indexes: number[]): Hash =>
  covenantId(
    outpoint(byte),
    indexes.map((index) => [index, output(100n)] as const),
  );

function transaction(inputs: number, bindings: readonly (Covenant | undefined)[]) {
  return {
    inputs: Array.from({ length: inputs }, (_, index) => input(index)),
    outputs: bindings.map((covenant) => output(100n, covenant)),
  };
}

/** The cases of the node's tests (rusty-kaspa, crypto/txscript/src/covenants.rs). */
describe('the bindings of a transaction', () => {
  test.each([
    { name: 'no binding, of a covenant that ends', spent: [ID_42], bindings: [undefined, undefined] },
    { name: 'a genesis of one output', spent: [undefined], bindings: [bind(idOf(0, 0))] },
    { name: 'a genesis of two outputs', spent: [undefined], bindings: [bind(idOf(0, 0, 1)), bind(idOf(0, 0, 1))] },
    {
      name: 'two groups of one input',
      spent: [undefined],
      bindings: [bind(idOf(0, 0, 2)), bind(idOf(0, 1)), bind(idOf(0, 0, 2))],
    },
    { name: 'groups of two inputs', spent: [undefined, undefined], bindings: [bind(idOf(0, 0)), bind(idOf(1, 1), 1)] },
    {
      name: 'a continuation with two groups of the same input',
      spent: [ID_42],
      bindings: [bind(ID_42), bind(idOf(0, 1, 3)), bind(idOf(0, 2)), bind(idOf(0, 1, 3))],
    },
    { name: 'a genesis by an input with another id', spent: [ID_42], bindings: [bind(idOf(0, 0))] },
  ])('$name is right', ({ spent, bindings }) => {
    expect(checkCovenants(transaction(spent.length, bindings), spent)).toBeUndefined();
  });

  test.each([
    { name: 'a wrong genesis id', spent: [undefined], bindings: [bind(ID_42)] },
    { name: 'a group without one of its outputs', spent: [undefined], bindings: [bind(idOf(0, 0, 1)), undefined] },
    { name: 'a continuation by another input', spent: [ID_42, undefined], bindings: [bind(ID_42, 1)] },
    { name: 'a genesis by another input', spent: [undefined, undefined], bindings: [bind(idOf(0, 0), 1)] },
  ])('$name is an error', ({ spent, bindings }) => {
    expect(checkCovenants(transaction(spent.length, bindings), spent)).toMatchObject({ kind: 'wrong-genesis-id' });
  });

  test('an authorising input that does not exist is an error', () => {
    expect(checkCovenants(transaction(1, [undefined, bind(ID_42, 1)]), [undefined])).toEqual({
      kind: 'authorizing-input-out-of-bounds',
      output: 1,
      authorizingInput: 1,
    });
  });

  test('any ids and inputs give a result', () => {
    const covenant = fc.option(
      fc.record({
        authorizingInput: fc.integer({ min: 0, max: 3 }),
        covenantId: fc.constantFrom(ID_42, fromHex('00'.repeat(32))),
      }),
      { nil: undefined },
    );
    fc.assert(
      fc.property(
        fc.array(covenant, { maxLength: 8 }),
        fc.array(fc.constantFrom(undefined, ID_42), { maxLength: 3 }),
        (bindings, spent) => {
          const error = checkCovenants(transaction(spent.length, bindings), spent);
          const isContinued = bindings.every((binding) => {
            const id = binding && spent[binding.authorizingInput];
            return binding === undefined || (id !== undefined && Buffer.compare(id, binding.covenantId) === 0);
          });
          // No group has a right id by chance.
          expect(error === undefined).toBe(isContinued);
        },
      ),
    );
  });
});
