/** Headers and transactions that a client encodes are decoded as the same by a node. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Header, Transaction } from '@kasgres/kaspa';
import { protocol, toHeaderMessage, toTransactionMessage } from '@kasgres/node';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readHeader, readTransaction } from './from-messages.ts';

const bytes = (constraints: { minLength?: number; maxLength?: number }) =>
  fc.uint8Array(constraints).map((array) => Buffer.from(array));
const hash = bytes({ minLength: 32, maxLength: 32 });
const uint = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 });
const uint64 = fc.bigInt(0n, 2n ** 64n - 1n);

const transaction: fc.Arbitrary<Transaction> = fc.record({
  version: uint(16),
  inputs: fc.array(
    fc.record({
      previousOutpoint: fc.record({ transactionId: hash, index: uint(32) }),
      signatureScript: bytes({ maxLength: 100 }),
      sequence: uint64,
      sigOpCount: uint(8),
      computeBudget: uint(16),
    }),
    { maxLength: 4 },
  ),
  outputs: fc.array(
    fc.record({
      amount: uint64,
      scriptPublicKey: fc.record({ version: uint(16), script: bytes({ maxLength: 100 }) }),
      covenant: fc.option(fc.record({ authorizingInput: uint(16), covenantId: hash }), { nil: undefined }),
    }),
    { maxLength: 4 },
  ),
  lockTime: uint64,
  subnetworkId: bytes({ minLength: 20, maxLength: 20 }),
  gas: uint64,
  payload: bytes({ maxLength: 100 }),
  storageMass: uint64,
});

const header: fc.Arbitrary<Header> = fc.record({
  version: uint(16),
  parentsByLevel: fc.array(fc.array(hash, { maxLength: 3 }), { maxLength: 4 }),
  hashMerkleRoot: hash,
  acceptedIdMerkleRoot: hash,
  utxoCommitment: hash,
  timestamp: fc.bigInt(0n, 2n ** 63n - 1n),
  bits: uint(32),
  nonce: uint64,
  daaScore: uint64,
  blueWork: fc.bigInt(0n, 2n ** 192n - 1n),
  blueScore: uint64,
  pruningPoint: hash,
});

test('transactions', () => {
  fc.assert(
    fc.property(transaction, (one) => {
      const schema = protocol.TransactionSchema;
      const sent = toBinary(schema, create(schema, toTransactionMessage(one)));
      expect(readTransaction(fromBinary(schema, sent))).toEqual(one);
    }),
  );
});

test('headers', () => {
  fc.assert(
    fc.property(header, (one) => {
      const schema = protocol.HeaderSchema;
      const sent = toBinary(schema, create(schema, toHeaderMessage(one)));
      expect(readHeader(fromBinary(schema, sent))).toEqual(one);
    }),
  );
});
