import { expect, it } from 'vitest';
import { withoutKeys } from './access-log.ts';

it.each([
  [`/v1/blocks?x-api-key=kdp_${'a1'.repeat(32)}&limit=3`, '/v1/blocks?x-api-key=kdp_[redacted]&limit=3'],
  [`/v1/blocks?key=KDP%5F${'A1'.repeat(32)}`, '/v1/blocks?key=kdp_[redacted]'],
  [`/kdp_${'0'.repeat(10)}/kdp_${'f'.repeat(70)}`, '/kdp_[redacted]/kdp_[redacted]'],
  ['/v1/blocks?limit=3', '/v1/blocks?limit=3'],
])('redacts the key in %s', (url, logged) => {
  expect(withoutKeys(url)).toBe(logged);
});
