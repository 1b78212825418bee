import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatKas, fromHex, HexError, MAX_SOMPI, toHex } from './format.ts';

test('it decodes any encoded bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(Uint8Array.from(fromHex(toHex(bytes)))).toEqual(bytes);
    }),
  );
});

test('reads either case and writes lower case', () => {
  expect(toHex(fromHex('00aAFf'))).toBe('00aaff');
});

test('it encodes only the viewed part of a buffer', () => {
  expect(toHex(Uint8Array.of(1, 2, 3, 4).subarray(1, 3))).toBe('0203');
});

test.each(['0', 'abc', '0g', '0x00', ' 00', '00\n', 'ab cd', '\u0130\u0131'])('refuses %j', (text) => {
  expect(() => fromHex(text)).toThrow(HexError);
});

test('the error contains the rejected text, truncated if long', () => {
  expect(() => fromHex('zz')).toThrow('Not hexadecimal: "zz"');
  expect(() => fromHex('z'.repeat(100_000))).toThrow(/^.{1,120}$/);
});

test.each([
  [0n, '0'],
  [1n, '0.00000001'],
  [100_000_000n, '1'],
  [150_000_000n, '1.5'],
  [10_000_000_010n, '100.0000001'],
  [-1n, '-0.00000001'],
  [-1_250_000_000n, '-12.5'],
  [MAX_SOMPI, '29000000000'],
  [2n ** 64n - 1n, '184467440737.09551615'],
])('%i sompi are %s KAS', (sompi, text) => {
  expect(formatKas(sompi)).toBe(text);
});
