import { hashKey } from '@kasgres/database';
import { expect, test } from 'vitest';
import { createToken, isValidToken, parseToken, type StreamToken, TOKEN_LIFE_MS } from './stream-tokens.ts';

const NOW = 1_795_000_000_000;
const HASH = hashKey('kdp_1');
const tokenOf = (expiresAt: number, hash = HASH) => parseToken(createToken(7n, hash, expiresAt)) as StreamToken;
const isValid = (token: StreamToken): boolean => isValidToken(token, HASH, NOW);

test('a token is valid until it expires, and for an hour at most, although its signer chose a later end', () => {
  expect(isValid(tokenOf(NOW + TOKEN_LIFE_MS))).toBe(true);
  expect(isValid(tokenOf(NOW + 1))).toBe(true);
  for (const expiresAt of [NOW, NOW - 1, NOW + TOKEN_LIFE_MS + 120_000, NOW + 365 * 86_400_000, 999_999_999_999_999])
    expect(isValid(tokenOf(expiresAt)), String(expiresAt)).toBe(false);
  expect(isValid(tokenOf(NOW + 1, hashKey('kdp_2')))).toBe(false);
});

test.each(['9223372036854775808', '9999999999999999999', '18446744073709551616'])(
  'the id %s, which no key can have, is not that of a token',
  (id) => {
    expect(parseToken(`kst_${id}_${NOW}_${'a'.repeat(43)}`)).toBeUndefined();
  },
);

test('the greatest id of a key is', () => {
  expect(parseToken(`kst_9223372036854775807_${NOW}_${'a'.repeat(43)}`)).toMatchObject({ keyId: 2n ** 63n - 1n });
});
