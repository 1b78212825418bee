/**
 * The partial reader of mempool entries agrees with the protobuf decoder, also for entries that no
 * honest node sends.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NodeProtocolError } from './errors.ts';
import { decodeEntry, encodeEntry, readPendingEntry } from './mempool-entry.ts';
import type { PackedPairs } from './packed-pairs.ts';

const pairsOf = (pairs: PackedPairs) => {
  const found: [string, bigint][] = [];
  pairs.forEach((text, number) => found.push([text, number]));
  return found;
};

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const uint32 = fc.nat({ max: 2 ** 32 - 1 });
const entries = fc.record({
  fee: uint64,
  isOrphan: fc.boolean(),
  transaction: fc.record({
    version: fc.nat({ max: 2 }),
    inputs: fc.array(
      fc.record({
        previousOutpoint: fc.record({ transactionId: fc.stringMatching(/^[0-9a-f]{64}$/), index: uint32 }),
        signatureScript: fc.string(),
        sequence: uint64,
        sigOpCount: uint32,
        computeBudget: uint32,
      }),
    ),
    outputs: fc.array(
      fc.record(
        {
          amount: uint64,
          scriptPublicKey: fc.record({ version: uint32, scriptPublicKey: fc.string() }),
          verboseData: fc.record({ scriptPublicKeyType: fc.string(), scriptPublicKeyAddress: fc.string() }),
          covenant: fc.record({
            authorizingInput: uint32,
            covenantId: fc.oneof(fc.stringMatching(/^[0-9a-f]{64}$/), fc.string()),
          }),
        },
        { requiredKeys: ['amount'] },
      ),
    ),
    payload: fc.string(),
    storageMass: uint64,
    verboseData: fc.record({ transactionId: fc.string(), computeMass: uint64, blockTime: uint64 }),
  }),
});

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

describe('an entry of the mempool', () => {
  it('is read as the message says', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const bytes = encodeEntry(entry);
        const { fee, transaction } = decodeEntry(bytes);
        const { inputs = [], outputs = [], version, storageMass, verboseData } = transaction ?? {};
        const { paid, spent, bound, ...rest } = readPendingEntry(bytes);
        expect(rest).toEqual({
          fee,
          version,
          storageMass,
          computeMass: verboseData?.computeMass,
          outputSum: outputs.reduce((total, { amount }) => total + amount, 0n),
          scripts: {
            sigOps: sum(inputs.map(({ sigOpCount }) => sigOpCount)),
            computeBudget: sum(inputs.map(({ computeBudget }) => computeBudget)),
            outputs: outputs.length,
            outputScriptBytes: sum(
              outputs.map(({ scriptPublicKey: script }) =>
                Math.ceil(Buffer.byteLength(script?.scriptPublicKey ?? '') / 2),
              ),
            ),
          },
        });
        expect(pairsOf(bound)).toEqual(
          outputs.flatMap(({ covenant }, index) =>
            covenant !== undefined && /^[0-9a-f]{64}$/.test(covenant.covenantId)
              ? [[covenant.covenantId, BigInt(index)]]
              : [],
          ),
        );
        expect(pairsOf(paid)).toEqual(
          outputs.map(({ amount, verboseData: { scriptPublicKeyAddress: address = '' } = {} }) =>
            // An address has no line breaks.
            [address.includes('\n') ? '' : address, amount],
          ),
        );
        expect(pairsOf(spent)).toEqual(
          inputs.map(({ previousOutpoint }) => [previousOutpoint?.transactionId, BigInt(previousOutpoint?.index ?? 0)]),
        );
      }),
    );
  });

  it('is refused without verbose data, and if it is cut off', () => {
    const bytes = encodeEntry({
      fee: 1n,
      transaction: { outputs: [{ amount: 1n }], verboseData: { computeMass: 5n } },
    });
    for (let length = 1; length < bytes.length; length += 1)
      expect(() => readPendingEntry(bytes.subarray(0, length))).toThrow(NodeProtocolError);
    expect(() => readPendingEntry(encodeEntry({ fee: 1n, transaction: {} }))).toThrow('has no verbose data');
  });
});
