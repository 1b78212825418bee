import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeChecksum } from './address-checksum.ts';
import {
  type Address,
  ADDRESS_PREFIXES,
  ADDRESS_VERSION,
  AddressError,
  type AddressErrorReason,
  decodeAddress,
  encodeAddress,
} from './address.ts';
import { fromHex } from './format.ts';

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const ZEROS = 'kaspa:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqkx9awp4e';

const anyAddress: fc.Arbitrary<Address> = fc
  .tuple(fc.constantFrom(...ADDRESS_PREFIXES), fc.constantFrom(...Object.values(ADDRESS_VERSION)))
  .chain(([prefix, version]) => {
    const length = version === ADDRESS_VERSION.pubKeyEcdsa ? 33 : 32;
    const payload = fc.uint8Array({ minLength: length, maxLength: length });
    return fc.record({ prefix: fc.constant(prefix), version: fc.constant(version), payload });
  });

function reasonOf(text: string): AddressErrorReason | undefined {
  try {
    decodeAddress(text);
    return undefined;
  } catch (error) {
    if (error instanceof AddressError) return error.reason;
    throw error;
  }
}

/** An address text with a valid checksum, regardless of what the digits mean. */
function withChecksum(digits: number[]): string {
  const all = Uint8Array.of(...digits, 0, 0, 0, 0, 0, 0, 0, 0);
  writeChecksum('kaspa', all, digits.length);
  return `kaspa:${[...all].map((digit) => ALPHABET[digit]).join('')}`;
}

test('it decodes any encoded address', () => {
  fc.assert(
    fc.property(anyAddress, (address) => {
      expect(decodeAddress(encodeAddress(address))).toEqual(address);
    }),
  );
});

/** The node's own test vectors (rusty-kaspa, crypto/addresses). */
test.each([
  { prefix: 'kaspa', version: 0, payload: '00'.repeat(32), text: ZEROS },
  {
    prefix: 'kaspatest',
    version: 0,
    payload: '00'.repeat(32),
    text: 'kaspatest:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqhqrxplya',
  },
  {
    prefix: 'kaspatest',
    version: 1,
    payload: '00'.repeat(33),
    text: 'kaspatest:qyqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqhe837j2d',
  },
  {
    prefix: 'kaspatest',
    version: 1,
    payload: 'ba01fc5f4e9d9879599c69a3dafdb835a7255e5f2e934e9322ecd3af190ab0f60e',
    text: 'kaspatest:qxaqrlzlf6wes72en3568khahq66wf27tuhfxn5nytkd8tcep2c0vrse6gdmpks',
  },
  {
    prefix: 'kaspa',
    version: 0,
    payload: '5fff3c4da18f45adcdd499e44611e9fff148ba69db3c4ea2ddd955fc46a59522',
    text: 'kaspa:qp0l70zd5x85ttwd6jv7g3s3a8llzj96d8dncn4zmhv4tlzx5k2jyqh70xmfj',
  },
] as const)('$text', ({ prefix, version, payload, text }) => {
  expect(encodeAddress({ prefix, version, payload: fromHex(payload) })).toBe(text);
  expect(decodeAddress(text)).toEqual({ prefix, version, payload: Uint8Array.from(fromHex(payload)) });
});

describe('decodeAddress rejects', () => {
  test.each<[string, AddressErrorReason]>([
    ['', 'missing-prefix'],
    [ZEROS.replace(':', ''), 'missing-prefix'],
    [ZEROS.replace('kaspa:', ':'), 'unknown-prefix'],
    [ZEROS.replace('kaspa:', 'kaspa1:'), 'unknown-prefix'],
    [ZEROS.replace('kaspa:', 'Kaspa:'), 'unknown-prefix'],
    [ZEROS.toUpperCase(), 'unknown-prefix'],
    [ZEROS.replace('qqq', 'q1q'), 'bad-character'],
    [ZEROS.replace('qqq', 'qQq'), 'bad-character'],
    [ZEROS.replace('qqq', 'qéq'), 'bad-character'],
    [ZEROS.replace('qqq', 'q😀'), 'bad-character'],
    [`${ZEROS} `, 'bad-character'],
    [ZEROS.replace('kaspa:', 'kaspa::'), 'bad-character'],
    [ZEROS.slice(0, -1), 'bad-checksum'],
    [ZEROS.replace('qqq', 'qq'), 'bad-checksum'],
    [ZEROS.replace('kaspa:', 'kaspatest:'), 'bad-checksum'],
    ['kaspa:', 'bad-checksum'],
    ['kaspa:qqqqqqqq', 'bad-checksum'],
  ])('%j: %s', (text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });

  test('an address with any one character changed', () => {
    const start = 'kaspa:'.length;
    for (let index = start; index < ZEROS.length; index++) {
      const other = ZEROS[index] === 'l' ? 'q' : 'l';
      expect(reasonOf(ZEROS.slice(0, index) + other + ZEROS.slice(index + 1))).toBe('bad-checksum');
    }
  });

  test('an unknown version with a valid checksum', () => {
    expect(reasonOf(withChecksum([0, 8, ...Array<number>(51).fill(0)]))).toBe('unknown-version');
  });

  test('a payload of wrong length with a valid checksum', () => {
    expect(reasonOf(withChecksum([0, 0]))).toBe('bad-length');
    expect(reasonOf(withChecksum(Array<number>(55).fill(0)))).toBe('bad-length');
    expect(reasonOf(withChecksum(Array<number>(10_000).fill(0)))).toBe('bad-length');
  });

  test('nonzero padding with a valid checksum', () => {
    expect(reasonOf(withChecksum([...Array<number>(52).fill(0), 1]))).toBe('bad-padding');
    expect(reasonOf(withChecksum([0]))).toBe('bad-padding');
  });

  test('a payload of the wrong length for its version', () => {
    const payload = new Uint8Array(32);
    expect(() => encodeAddress({ prefix: 'kaspa', version: ADDRESS_VERSION.pubKeyEcdsa, payload })).toThrow(
      AddressError,
    );
  });
});
