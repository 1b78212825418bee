import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NodeProtocolError } from '../errors.ts';
import { UtxoSetChunkSchema } from '../generated/p2p_pb.ts';
import { decodeUtxoChunk } from './decode-utxo-chunk.ts';

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const item = fc.record({
  outpoint: fc.record({ transactionId: fc.record({ bytes: hash }), index: fc.nat() }),
  entry: fc.record(
    {
      amount: uint64,
      scriptPublicKey: fc.record({ script: fc.uint8Array({ maxLength: 300 }), version: fc.nat(65_535) }),
      blockDaaScore: uint64,
      isCoinbase: fc.boolean(),
      covenantId: fc.record({ bytes: hash }),
    },
    { requiredKeys: ['amount', 'scriptPublicKey', 'blockDaaScore', 'isCoinbase'] },
  ),
});
const items = fc.array(item, { maxLength: 5 });

type Items = NonNullable<MessageInitShape<typeof UtxoSetChunkSchema>['items']>;

function encode(items: Items): Uint8Array {
  return toBinary(UtxoSetChunkSchema, create(UtxoSetChunkSchema, { items }));
}

/** Any malformed chunk is reported as an error of the node. */
function decodeOrRefuse(bytes: Uint8Array): void {
  try {
    decodeUtxoChunk(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(NodeProtocolError);
  }
}

test('it decodes each field that the generated code encodes', () => {
  fc.assert(
    fc.property(items, (items) => {
      expect(decodeUtxoChunk(encode(items))).toEqual(
        items.map(({ outpoint, entry }) => ({
          outpoint: { transactionId: outpoint.transactionId.bytes, index: outpoint.index },
          ...entry,
          covenantId: entry.covenantId?.bytes,
        })),
      );
    }),
  );
});

test('it decodes truncated or damaged bytes or throws a NodeProtocolError', () => {
  fc.assert(
    fc.property(items, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), (items, cut, at, flip) => {
      const bytes = encode(items);
      decodeOrRefuse(bytes.subarray(0, cut % (bytes.length + 1)));
      const damaged = bytes.map((byte, index) => (index === at % bytes.length ? byte ^ flip : byte));
      decodeOrRefuse(damaged);
    }),
  );
});

test('it rejects a UTXO without outpoint, entry or script', () => {
  const outpoint = { transactionId: { bytes: new Uint8Array(32) }, index: 0 };
  const short = { transactionId: { bytes: new Uint8Array(31) }, index: 0 };
  const entry = { amount: 1n, scriptPublicKey: { script: new Uint8Array(1), version: 0 } };
  for (const item of [{ outpoint }, { entry }, { outpoint, entry: { amount: 1n } }, { outpoint: short, entry }]) {
    expect(() => decodeUtxoChunk(encode([item]))).toThrow(NodeProtocolError);
  }
});
