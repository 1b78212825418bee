import { networks, scriptToAddress } from '@kasgres/kaspa';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressInput, hashInput, hashOrEmptyInput, uint64Input } from './values.ts';

describe('hashes', () => {
  it('converts either case, with or without 0x, to bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.boolean(),
        fc.boolean(),
        (bytes, upper, prefixed) => {
          const hex = Buffer.from(bytes).toString('hex');
          const text = (prefixed ? '0x' : '') + (upper ? hex.toUpperCase() : hex);
          expect(Buffer.compare(hashInput.parse(text), bytes)).toBe(0);
          expect(Buffer.compare(hashOrEmptyInput.parse(text) as Uint8Array, bytes)).toBe(0);
        },
      ),
    );
  });

  it.each([
    '',
    '0x',
    'ab',
    'ab'.repeat(33),
    `${'ab'.repeat(31)}zz`,
    ` ${'ab'.repeat(32)}`,
    `0X${'ab'.repeat(32)}`,
    7,
    null,
  ])('refuses %j', (value) => {
    expect(hashInput.safeParse(value).success).toBe(false);
  });

  it('accepts an empty text as none where a hash is optional', () => {
    expect(hashOrEmptyInput.parse('')).toBeUndefined();
  });
});

describe('unsigned 64-bit numbers', () => {
  it('converts decimal digits below 2^64', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 64n - 1n), (value) => {
        expect(uint64Input.parse(String(value))).toBe(value);
      }),
    );
  });

  it.each(['', '-1', '1.5', '1e3', '0x10', ' 1', String(2n ** 64n), '9'.repeat(400), 5])('refuses %j', (value) => {
    expect(uint64Input.safeParse(value).success).toBe(false);
  });
});

describe('addresses', () => {
  it('accepts addresses of every network', () => {
    for (const { addressPrefix } of networks) {
      const address = scriptToAddress(
        { version: 0, script: Buffer.from(`20${'ab'.repeat(32)}ac`, 'hex') },
        addressPrefix,
      );
      expect(addressInput.parse(address)).toBe(address);
    }
  });

  it.each(['', 'kaspa:', 'kaspa:qqqq', 'bitcoincash:qqqq', 'not an address'])('refuses %j with a message', (text) => {
    const { error } = addressInput.safeParse(text);
    expect(error?.issues[0]?.message).toMatch(/address/);
  });
});
