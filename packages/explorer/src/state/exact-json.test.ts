import { expect, test, vi } from 'vitest';
import { parseExact } from './exact-json.ts';

// The package is its build, which may be older than its source.
vi.mock('@kasgres/client', async () => import('../../../client/src/index.ts'));

test('numbers of JSON keep all of their digits', () => {
  const text = '{"count":1,"body":{"amount":12345678901234567890,"all":[-9007199254740993,0.12345678901234567890]}}';
  expect(JSON.stringify(parseExact(text))).toBe(text);
  expect(parseExact('{"count":1,"rate":1.5}')).toEqual({ count: 1, rate: 1.5 });
});
