/** Each test names what would be tied wrongly without a guard. */
import { expect, test } from 'vitest';
import { scriptsOfOneOwner, type SpentInput } from './common-inputs.ts';

const [ALL, NONE, SINGLE, ANYONE_CAN_PAY] = [0x01, 0x02, 0x04, 0x80];

function signedBy(hashType: number, rest: Uint8Array = new Uint8Array()): Uint8Array {
  return Buffer.concat([Uint8Array.of(65), Buffer.alloc(64, 7), Uint8Array.of(hashType), rest]);
}

function spent(script: bigint, input: Partial<SpentInput> = {}): SpentInput {
  return { script, type: 'pubkey', signatureScripts: [signedBy(ALL)], hasCovenant: false, ...input };
}

function scriptsOf(inputs: readonly SpentInput[], equalOutputs = 1): bigint[] {
  return scriptsOfOneOwner({ inputs, equalOutputs });
}

test('fully signed inputs have one owner, and each script is listed once, in order', () => {
  expect(scriptsOf([spent(3n), spent(1n, { type: 'pubkeyecdsa' }), spent(3n), spent(2n)])).toEqual([3n, 1n, 2n]);
});

test('a script hash may have any number of owners', () => {
  const redeemed = signedBy(ALL, Uint8Array.of(1, 0x51));
  expect(scriptsOf([spent(1n), spent(2n, { type: 'scripthash', signatureScripts: [redeemed] }), spent(3n)])).toEqual([
    1n,
    3n,
  ]);
  expect(scriptsOf([spent(1n), spent(2n, { type: 'nonstandard', signatureScripts: [signedBy(ALL)] })])).toEqual([1n]);
});

test.each([ALL, NONE, SINGLE].map((type) => type | ANYONE_CAN_PAY).concat(NONE, SINGLE))(
  'an input signed with hash type %i lets others join: nothing follows from the transaction',
  (hashType) => {
    const open = { signatureScripts: [signedBy(hashType)] };
    expect(scriptsOf([spent(1n), spent(2n, open), spent(3n)])).toEqual([]);
    const inScriptHash = Buffer.concat([Uint8Array.of(0x51), signedBy(hashType, Uint8Array.of(0x4c, 2, 0x51, 0x52))]);
    expect(
      scriptsOf([spent(1n), spent(2n, { type: 'scripthash', signatureScripts: [inScriptHash] }), spent(3n)]),
    ).toEqual([]);
  },
);

test('a UTXO with a covenant, or with an unknown output, is spent by a contract', () => {
  expect(scriptsOf([spent(1n), spent(2n), spent(3n, { hasCovenant: true })])).toEqual([]);
  expect(scriptsOf([spent(1n), spent(2n), spent(3n, { hasCovenant: null })])).toEqual([]);
});

test('a CoinJoin has several owners', () => {
  const inputs = [spent(1n), spent(2n), spent(3n), spent(4n)];
  expect(scriptsOf(inputs, 3)).toEqual([]);
  expect(scriptsOf(inputs, 4)).toEqual([]);
  // Some get two.
  expect(scriptsOf(inputs, 8)).toEqual([]);
});

test('batch payments of equal amounts and splits have one owner', () => {
  expect(scriptsOf([spent(1n), spent(2n), spent(3n), spent(4n)], 9)).toEqual([1n, 2n, 3n, 4n]);
  expect(scriptsOf([spent(1n), spent(2n)], 2)).toEqual([1n, 2n]);
  expect(scriptsOf([spent(1n), spent(2n)], 3)).toEqual([1n, 2n]);
  expect(scriptsOf([spent(1n), spent(2n), spent(3n)], 2)).toEqual([1n, 2n, 3n]);
});

test('a signature script with anything but one signature has no single key', () => {
  const odd = { signatureScripts: [signedBy(ALL, Uint8Array.of(0x51))] };
  expect(scriptsOf([spent(1n), spent(2n, odd), spent(3n)])).toEqual([1n, 3n]);
  expect(scriptsOf([spent(1n), spent(2n, { signatureScripts: [new Uint8Array()] }), spent(3n)])).toEqual([1n, 3n]);
});

test('all variants must agree while the accepted one is unknown', () => {
  const either = { signatureScripts: [signedBy(ALL), signedBy(ALL, Uint8Array.of(0x51))] };
  expect(scriptsOf([spent(1n), spent(2n, either), spent(3n)])).toEqual([1n, 3n]);
  const open = { signatureScripts: [signedBy(ALL), signedBy(ALL | ANYONE_CAN_PAY)] };
  expect(scriptsOf([spent(1n), spent(2n, open), spent(3n)])).toEqual([]);
});

test('a signature script that ends inside a push is read up to there', () => {
  for (const cut of [
    [0x4d, 1],
    [0x4e, 0xff, 0xff, 0xff, 0xff],
    [10, 1],
  ]) {
    const odd = { type: 'nonstandard' as const, signatureScripts: [Uint8Array.from(cut)] };
    expect(scriptsOf([spent(1n), spent(2n, odd), spent(3n)])).toEqual([1n, 3n]);
  }
});
