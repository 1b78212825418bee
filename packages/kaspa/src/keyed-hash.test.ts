import { blake2b } from '@noble/hashes/blake2.js';
import { blake3 } from '@noble/hashes/blake3.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as keyedHash from './keyed-hash.ts';

/** Longer than what WebAssembly is handed at once. */
const LONG = new Uint8Array(100_000).fill(7);

const blake2bDomains = [
  ['TransactionHash', keyedHash.hashTransaction],
  ['TransactionID', keyedHash.hashTransactionId],
  ['BlockHash', keyedHash.hashBlock],
  ['MerkleBranchHash', keyedHash.hashMerkleBranch],
  ['MuHashElement', keyedHash.hashMuHashElement],
  ['MuHashFinalize', keyedHash.hashMuHashFinalize],
  ['CovenantID', keyedHash.hashCovenantId],
] as const;

const blake3Domains = [
  ['PayloadDigest', keyedHash.hashTransactionPayload],
  ['TransactionRest', keyedHash.hashTransactionRest],
  ['TransactionV1Id', keyedHash.hashTransactionIdV1],
] as const;

function expectEqual(actual: keyedHash.HashFunction, expected: keyedHash.HashFunction): void {
  expect(actual(LONG)).toEqual(expected(LONG));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
      expect(actual(data)).toEqual(expected(data));
    }),
  );
}

describe('equals an independent implementation', () => {
  test.each(blake2bDomains)('BLAKE2b with key %s', (domain, hash) => {
    const key = Buffer.from(domain);
    expectEqual(hash, (data) => blake2b(data, { dkLen: 32, key }));
  });

  test.each(blake3Domains)('BLAKE3 with key %s', (domain, hash) => {
    const key = new Uint8Array(32);
    key.set(Buffer.from(domain));
    expectEqual(hash, (data) => blake3(data, { dkLen: 32, key }));
  });

  test('BLAKE2b without a key', () => {
    expectEqual(keyedHash.blake2b256, (data) => blake2b(data, { dkLen: 32 }));
  });

  test('BLAKE3 without a key, of several parts', () => {
    expectEqual(
      (data) => keyedHash.blake3(data.subarray(0, 7), new Uint8Array(0), data.subarray(7)),
      (data) => blake3(data, { dkLen: 32 }),
    );
  });
});

test('the next hash does not overwrite a returned one', () => {
  const first = keyedHash.hashBlock(Uint8Array.of(1));
  const copy = first.slice();
  keyedHash.hashBlock(Uint8Array.of(2));
  expect(first).toEqual(copy);
});
