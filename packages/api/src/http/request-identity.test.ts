import { expect, it } from 'vitest';
import { requestIdOf } from './request-identity.ts';

const idFor = (sent: string | undefined) =>
  requestIdOf({ headers: sent === undefined ? {} : { 'x-request-id': sent } });
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

it('keeps a valid id of the client', () => {
  for (const id of ['a', 'f3b1c9d0-0001', 'x'.repeat(64)]) expect(idFor(id)).toBe(id);
});

it.each([undefined, '', 'x'.repeat(65), 'a b', 'a\nb', '<script>', 'é', 'a,b'])('replaces %j', (sent) => {
  expect(idFor(sent)).toMatch(UUID);
  expect(idFor(sent)).not.toBe(idFor(sent));
});
