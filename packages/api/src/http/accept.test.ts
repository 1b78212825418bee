import { expect, test } from 'vitest';
import { chooseEncoding, qualityOf } from './accept.ts';

test.each([
  [undefined, 0],
  ['*/*', 0],
  ['text/csv', 1],
  ['Text/CSV; charset=utf-8', 1],
  ['application/json, text/csv;q=0.5', 0.5],
  ['text/csv; header=present; q=0.25, application/json', 0.25],
  ['text/csv;q=0', 0],
  ['text/csv;q=x', 0],
  ['text/csvx', 0],
])('%j gives text/csv the quality %d', (header, quality) => {
  expect(qualityOf(header, 'text/csv')).toBe(quality);
});

test('the first available encoding that is accepted is chosen', () => {
  expect(chooseEncoding('gzip, br', ['br', 'gzip'])).toBe('br');
  expect(chooseEncoding('gzip, br;q=0', ['br', 'gzip'])).toBe('gzip');
  expect(chooseEncoding(undefined, ['br', 'gzip'])).toBe('identity');
});
