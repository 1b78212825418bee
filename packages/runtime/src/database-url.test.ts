import { expect, test } from 'vitest';
import { libpqUrl, readDatabaseUrl } from './database-url.ts';

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
  ['?options=-c%20geqo%3Doff', /must not have the parameter options/],
  ['?statement_timeout=0', /must not have the parameter statement_timeout/],
  ['?host=/tmp', /must not have the parameter host/],
  ['?client_encoding=LATIN1', /must not set client_encoding/],
  ['?pgbouncer=true', /must not have the parameter pgbouncer/],
])('%j is refused by name', (parameters, message) => {
  expect(() => read(parameters)).toThrow(message);
});

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
