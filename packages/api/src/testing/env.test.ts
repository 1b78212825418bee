import { readEnv } from '@kasgres/runtime';
import { expect, it } from 'vitest';
import { envSchema } from '../env.ts';

const read = (given: Record<string, string>) =>
  readEnv(envSchema, { DATABASE_URL: 'postgres://host/database', NODE_URL: 'grpc://host:1', ...given });

it.each(['loopback', '10.0.0.1, 10.1.0.0/16', '::1', 'fd00::/8'])('it trusts the proxies %s', (text) => {
  expect(read({ TRUST_PROXY: text }).TRUST_PROXY).toEqual(text.split(', '));
});

it.each(['1', 'true', '10.0.0', '0x7f000001', '10.0.0.0/33', '10.0.0.1,'])('it refuses the proxies %s', (text) => {
  expect(() => read({ TRUST_PROXY: text })).toThrow('TRUST_PROXY: expected addresses');
});

it.each(['https://*.example.org', 'https://example.org:*', 'https://example.org/'])(
  'it refuses the origin %s, which no page has',
  (text) => {
    expect(() => read({ CORS_ORIGINS: text })).toThrow('CORS_ORIGINS: expected origins');
  },
);
