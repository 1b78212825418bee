import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex, HexError, toHex } from './hex.ts';

test('any bytes come back from their hex', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(Uint8Array.from(fromHex(toHex(bytes)))).toEqual(bytes);
    }),
  );
});

test('reads either case and writes lower case', () => {
  expect(toHex(fromHex('00aAFf'))).toBe('00aaff');
});

test('writes the part of a buffer that a view shows', () => {
  expect(toHex(Uint8Array.of(1, 2, 3, 4).subarray(1, 3))).toBe('0203');
});

test.each(['0', 'abc', '0g', '0x00', ' 00', '00\n', 'ab cd', '\u0130\u0131'])('refuses %j', (text) => {
  expect(() => fromHex(text)).toThrow(HexError);
});

test('names what it refuses, but not all of a long text', () => {
  expect(() => fromHex('zz')).toThrow('Not hexadecimal: "zz"');
  expect(() => fromHex('z'.repeat(100_000))).toThrow(/^.{1,120}$/);
});
