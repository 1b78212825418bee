import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CoinbasePayloadError, decodeCoinbasePayload, encodeCoinbasePayload } from './coinbase-payload.ts';
import { fromHex } from './format.ts';
import { classifyScript } from './script.ts';
import { recordedBlocks, toTransaction } from './testing/recorded-blocks.ts';

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const payloads = fc.record({
  blueScore: uint64,
  subsidy: uint64,
  scriptPublicKey: fc.record({
    version: fc.integer({ min: 0, max: 0xffff }),
    script: fc.uint8Array({ maxLength: 150 }),
  }),
  extraData: fc.uint8Array({ maxLength: 35 }),
});

test('it decodes any encoded payload', () => {
  fc.assert(
    fc.property(payloads, (payload) => {
      const bytes = Uint8Array.from(encodeCoinbasePayload(payload));
      expect(decodeCoinbasePayload(bytes)).toEqual(payload);
    }),
  );
});

describe('recorded coinbases', () => {
  const coinbases = recordedBlocks.map(({ header, transactions: [coinbase] }) => {
    if (coinbase === undefined) throw new Error(`no transaction in ${header.hash}`);
    return { header, payload: toTransaction(coinbase).payload };
  });

  test("tell their block's blue score, subsidy, miner and node", () => {
    for (const { header, payload } of coinbases.slice(1)) {
      const { blueScore, subsidy, scriptPublicKey, extraData } = decodeCoinbasePayload(payload);
      expect(blueScore).toBe(BigInt(header.blueScore));
      expect(subsidy).toBe(5_000_000_000n);
      expect(classifyScript(scriptPublicKey)).toMatch(/pubkey|scripthash|nonstandard/);
      expect(Buffer.from(extraData).toString()).toMatch(/^2\.1\.0\//);
    }
  });

  test('are encoded to the same bytes again', () => {
    for (const { payload } of coinbases) {
      expect(Buffer.from(encodeCoinbasePayload(decodeCoinbasePayload(payload)))).toEqual(Buffer.from(payload));
    }
  });
});

const script = (length: number) => ({ version: 0, script: new Uint8Array(length) });

describe('it rejects', () => {
  const fixed = '00'.repeat(18);

  test.each([
    ['nothing', ''],
    ['a byte less than the fixed part', fixed],
    ['a script that is cut', `${fixed}22${'00'.repeat(33)}`],
    ['a script longer than allowed', `${fixed}97${'00'.repeat(151)}`],
    ['more bytes than allowed', `${fixed}00${'00'.repeat(186)}`],
  ])('%s', (_, hex) => {
    expect(() => decodeCoinbasePayload(fromHex(hex))).toThrow(CoinbasePayloadError);
  });

  test('values that would encode to one of these', () => {
    const payload = { blueScore: 0n, subsidy: 0n, extraData: new Uint8Array(0) };
    expect(() => encodeCoinbasePayload({ ...payload, scriptPublicKey: script(151) })).toThrow(CoinbasePayloadError);
    expect(() =>
      encodeCoinbasePayload({ ...payload, scriptPublicKey: script(150), extraData: new Uint8Array(36) }),
    ).toThrow(CoinbasePayloadError);
  });
});
