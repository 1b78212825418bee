import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DATABASE_URL_FORM, libpqUrl, readDatabaseUrl } from './database-url.ts';
import { postgresUrl, readEnv } from './env.ts';

const read = (parameters: string, environment = {}) => readDatabaseUrl(`postgres://a:b@c/d${parameters}`, environment);

test.each([
  ['', 'disable', undefined],
  ['?sslmode=disable', 'disable', undefined],
  ['?sslmode=require', 'require', undefined],
  ['?sslmode=require&sslrootcert=/ca.pem', 'verify-ca', '/ca.pem'],
  ['?sslmode=verify-ca&sslrootcert=/ca.pem', 'verify-ca', '/ca.pem'],
  ['?sslmode=verify-full&sslrootcert=/ca.pem', 'verify-full', '/ca.pem'],
  ['?sslrootcert=system', 'verify-full', 'system'],
  ['?ssl=true', 'require', undefined],
  ['?ssl=0', 'disable', undefined],
  ['?sslmode=no-verify&sslrootcert=/ca.pem', 'require', undefined],
  ['?sslmode=require&uselibpqcompat=true', 'require', undefined],
  ['?sslmode=require&target_session_attrs=read-write', 'require', undefined],
])('%j means what libpq says', (parameters, sslMode, rootCertificate) => {
  expect(read(parameters)).toMatchObject({ sslMode, rootCertificate });
});

test('variables of libpq count where the address says nothing', () => {
  expect(read('', { PGSSLMODE: 'require' }).sslMode).toBe('require');
  expect(read('', { PGSSLMODE: 'verify-ca', PGSSLROOTCERT: '/ca.pem' })).toMatchObject({
    sslMode: 'verify-ca',
    rootCertificate: '/ca.pem',
  });
  expect(read('', { PGSSLMODE: 'prefer' }).sslMode).toBe('disable');
  expect(read('?sslmode=disable', { PGSSLMODE: 'require', PGSSLROOTCERT: '/ca.pem' })).toMatchObject({
    sslMode: 'disable',
    rootCertificate: undefined,
  });
});

test.each([
  ['?sslmode=prefer', /must have sslmode=disable, require, verify-ca or verify-full/],
  ['?sslmode=verify-ca', /must name the certificate authority/],
  ['?options=-c%20geqo%3Doff', /has an unknown parameter at position 1/],
  ['?sslmode=require&statement_timeout=0', /has an unknown parameter at position 2/],
  ['?host=/tmp', /must not have the parameter host/],
  ['?client_encoding=LATIN1', /must not set client_encoding/],
  ['?pgbouncer=true', /has an unknown parameter at position 1/],
  ['?ssl=no', /must have ssl=true or 1 or false or 0/],
  ['?sslmode=require&gssencmode=require', /must have gssencmode=disable or prefer/],
  ['?sslmode=require&sslnegotiation=now', /must have sslnegotiation=postgres or direct/],
  ['?sslnegotiation=direct', /must have an sslmode with/],
  ['?sslmode=disable&sslnegotiation=direct', /must have an sslmode with/],
  ['?sslcert=/client.pem&sslkey=/client.key', /must have an sslmode with/],
  ['?sslmode=require&channel_binding=require', /must have sslmode=verify-full with channel_binding=require/],
  ['?channel_binding=always', /must have channel_binding=disable or prefer or require/],
])('%j is refused with advice', (parameters, message) => {
  expect(() => read(parameters)).toThrow(message);
});

test.each([
  'postgres://user:12?34@host/db',
  'postgres://user:12/34@host/db',
  'postgres://user:12#34@host/db',
  'postgres://user:12#34',
  'postgres://user:1@2/34@host/db',
  'postgres://user:12%zz@host/db',
  'postgres://user:12%@host/db',
  'postgres://user:ab?cd@host/db',
  'postgres://user:12%0034@host/db',
])('%s is refused, since its password is not encoded', (url) => {
  expect(() => readDatabaseUrl(url)).toThrow(new Error(DATABASE_URL_FORM));
});

const schema = z.object({ DATABASE_URL: postgresUrl().describe('the database') });
/** Neither messages nor stacks contain such words. The numbers may be taken for a port. */
const word = fc.stringMatching(/^([QXZ7]{5,8}|[1-5][0-9]{4})$/);
const special = fc.constantFrom(
  '?',
  '#',
  '/',
  '@',
  ':',
  '%',
  '%zz',
  '%3F',
  ' ',
  '&',
  '=',
  '?a=',
  '&b=',
  '\\',
  '[',
  ']',
  '\n',
  '\t',
  '"',
  ',',
);
const form = fc.constantFrom(
  'postgres://user:*@host:5432/db?sslmode=require',
  'postgresql://user:*@host',
  'postgres://*@host/db',
  'postgres://host/db?password=*',
  'postgres:user:*@host/db',
  'postgres:///user:*@host/db',
  'mysql://user:*@host/db',
  'user:*@host/db',
  ' postgres://user:*@[::1]:5432/db',
);

test('no part of a password is in an error, or where an address says to connect', () => {
  const password = fc.array(fc.tuple(word, special), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(form, password, word, (url, parts, last) => {
      const text = url.replace('*', () => `${parts.flat().join('')}${last}`);
      const words = [...parts.map(([first]) => first), last];
      for (const shown of shownOf(text)) for (const one of words) expect(shown).not.toContain(one);
    }),
    { numRuns: 500 },
  );
});

/** Returns what logs and errors may show of an address. */
function shownOf(text: string): string[] {
  try {
    const { url } = readDatabaseUrl(readEnv(schema, { DATABASE_URL: text }).DATABASE_URL, {});
    return [url.host, url.pathname, url.search, url.hash];
  } catch (error) {
    return [inspect(error, { depth: Infinity, showHidden: true })];
  }
}

test.each([
  ['postgres://a:b@c/d', 'postgresql://a:b@c/d'],
  ['postgresql://a:b@c:5/d?sslmode=no-verify', 'postgresql://a:b@c:5/d?sslmode=require'],
  [
    'postgres://a@c/d?sslmode=require&uselibpqcompat=true&target_session_attrs=any',
    'postgresql://a@c/d?sslmode=require',
  ],
  ['postgres://a@c/d?ssl=false&application_name=x', 'postgresql://a@c/d?sslmode=disable'],
  [
    'postgres://a@c/d?sslmode=verify-full&sslrootcert=system&channel_binding=require',
    'postgresql://a@c/d?sslmode=verify-full&sslrootcert=system&channel_binding=require',
  ],
])('%s is for libpq %s', (url, expected) => {
  expect(libpqUrl(url)).toBe(expected);
});
