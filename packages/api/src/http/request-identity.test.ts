import { expect, it } from 'vitest';
import { clientOf, localUrl, normalizeForwardedFor, requestIdOf } from './request-identity.ts';

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

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['[2001:DB8::1]', '2001:DB8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  // The proxies on the right stay.
  ['192.0.2.1:1 , 10.0.0.2:2', '192.0.2.1, 10.0.0.2'],
  ['192.0.2.1, unknown, 10.0.0.2', '10.0.0.2'],
  ['192.0.2.1, garbage7', undefined],
  ['', undefined],
  ['192.0.2.1:', undefined],
  ['192.0.2.1:123456', undefined],
  ['[192.0.2.1', undefined],
  ['2001:db8::1:4711:x', undefined],
  // Other notations of IPv4, of which every address has many.
  ['3221225985', undefined],
  ['0xc0.0.2.1', undefined],
  ['192.000.002.001', undefined],
  ['for=192.0.2.1', undefined],
  ['2001:db8::1%a-b', '2001:db8::1'],
  ['::ffff:192.0.2.1%x-1', '::ffff:192.0.2.1'],
])('reads x-forwarded-for %j as %j', (sent, expected) => {
  const headers = { 'x-forwarded-for': sent };
  normalizeForwardedFor(headers);
  expect(headers['x-forwarded-for']).toBe(expected);
});

it('takes a client with any zone for the same one', () => {
  for (const zone of ['%eth0', '%br-1', '%eth0.100']) expect(clientOf(`fe80::1${zone}`)).toBe(clientOf('fe80::1'));
});

it.each([
  ['/tags/a%20b?x=%zz', '/tags/a%20b?x=%zz'],
  ['/tags/100%?x=%zz', '/tags/100%25?x=%zz'],
  ['/tags/a%20%ff', '/tags/a%2520%25ff'],
  ['/%', '/%25'],
  ['http://evil.example/blocks/?a', '/blocks/?a'],
  ['HTTPS://evil.example:1', '/'],
  ['http://evil.example?a', '/?a'],
  ['//evil.example/blocks/', '//evil.example/blocks/'],
  ['*', '*'],
])('takes the URL %s as %s', (url, expected) => {
  expect(localUrl({ url })).toBe(expected);
});
