import { expect, test } from 'vitest';
import { requestIdOf } from './request-identity.ts';

const idFor = (sent: string | undefined) =>
  requestIdOf({ headers: sent === undefined ? {} : { 'x-request-id': sent } });
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('the id of the client is kept when it is one', () => {
  for (const id of ['a', 'f3b1c9d0-0001', 'x'.repeat(64)]) expect(idFor(id)).toBe(id);
});

test.each([undefined, '', 'x'.repeat(65), 'a b', 'a\nb', '<script>', 'é', 'a,b'])('%j is replaced', (sent) => {
  expect(idFor(sent)).toMatch(UUID);
  expect(idFor(sent)).not.toBe(idFor(sent));
});
