import { expect, test } from 'vitest';
import { z } from 'zod';
import { DATABASE_URL_FORM } from './database-url.ts';
import { documentEnv, EnvError, parsed, postgresUrl, readEnv } from './env.ts';

const schema = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(3000).describe('port of the API'),
  DATABASE_URL: postgresUrl().describe('the database'),
  VERBOSE: z.stringbool().default(false).describe('say more'),
  NODE_URL: z.string().optional().describe('the node'),
});

test('it parses values and fills in defaults', () => {
  expect(readEnv(schema, { DATABASE_URL: 'postgres://a@b/c', VERBOSE: 'false', UNKNOWN: 'x' })).toEqual({
    PORT: 3000,
    DATABASE_URL: 'postgres://a@b/c',
    VERBOSE: false,
  });
});

test('it reports all problems at once, without the values', () => {
  const error = catchError(() => readEnv(schema, { PORT: 'hunter2', VERBOSE: 'perhaps' }));
  expect(error).toBeInstanceOf(EnvError);
  expect((error as EnvError).problems).toHaveLength(3);
  expect((error as Error).message).toContain('DATABASE_URL: is not set (the database)');
  expect((error as Error).message).toContain('PORT: ');
  expect((error as Error).message).not.toContain('hunter2');
});

test('it reports former variables with the other problems', () => {
  const replaced = { STREAMS: 'PORT', VOLUME: 'PORT', UNSET: 'PORT' };
  const variables = { PORT: '0', DATABASE_URL: 'postgres://a@b/c', STREAMS: '3', VOLUME: '1', UNSET: '' };
  expect((catchError(() => readEnv(schema, variables, replaced)) as EnvError).problems).toEqual([
    'PORT: must be a whole number from 1 to 65535 (port of the API)',
    'STREAMS: no longer exists, set PORT instead',
    'VOLUME: no longer exists, set PORT instead',
  ]);
  expect(() => readEnv(schema, { ...variables, PORT: '1' }, replaced)).toThrow('STREAMS: no longer exists');
});

test('it reports a wrong value of a custom format with the other problems', () => {
  const withForm = schema.extend({
    SIZE: parsed((text) => {
      if (text !== 'large') throw new TypeError('must be large');
      return 3;
    }).describe('how large'),
  });
  expect(readEnv(withForm, { DATABASE_URL: 'postgres://a@b/c', SIZE: 'large' })).toMatchObject({ SIZE: 3 });
  const error = catchError(() => readEnv(withForm, { SIZE: 'small' })) as EnvError;
  expect(error.problems).toEqual(['DATABASE_URL: is not set (the database)', 'SIZE: must be large (how large)']);
});

test.each<[string, z.ZodType, string[], string]>([
  [
    'a port',
    z.coerce.number().int().min(0).max(65_535),
    ['abc', '80.5', '-1', '65536', '1e99'],
    'must be a whole number from 0 to 65535',
  ],
  [
    'a count with a default',
    z.coerce.number().int().min(1).default(3),
    ['abc', '0', '1.5'],
    'must be a whole number of at least 1',
  ],
  ['a whole number', z.coerce.number().int(), ['abc', '1.5'], 'must be a whole number'],
  ['a share', z.coerce.number().min(0).max(1).optional(), ['abc', '2'], 'must be a number from 0 to 1'],
  ['a depth', z.coerce.bigint().min(1n).optional(), ['abc', '0', '1.5'], 'must be a whole number of at least 1'],
  ['a switch', z.stringbool().default(false), ['perhaps', '2'], 'must be true or false'],
  ['a word', z.enum(['stop', 'record']).default('stop'), ['Stop', '1'], 'must be one of stop, record'],
  [
    'a database',
    postgresUrl().optional(),
    ['mysql://a@b/c', 'localhost', 'postgres', 'http://[::1'],
    DATABASE_URL_FORM,
  ],
])('it says what is expected of %s', (_, field, values, expected) => {
  for (const value of values) {
    const error = catchError(() => readEnv(z.object({ IT: field.describe('what it is') }), { IT: value }));
    expect((error as EnvError).problems, value).toEqual([`IT: ${expected} (what it is)`]);
  }
});

test('it treats an empty variable as unset', () => {
  expect(readEnv(schema, { DATABASE_URL: 'postgres://a@b/c', PORT: '', NODE_URL: '' })).toMatchObject({ PORT: 3000 });
  expect(() => readEnv(schema, { DATABASE_URL: '' })).toThrow('DATABASE_URL: is not set');
});

test('it ignores whitespace around a value, and treats a variable of nothing else as unset', () => {
  const variables = { DATABASE_URL: 'postgres://a@b/c\r', PORT: ' 80 ', VERBOSE: 'true\r', NODE_URL: '\t' };
  const expected = { DATABASE_URL: 'postgres://a@b/c', PORT: 80, VERBOSE: true };
  expect(readEnv(schema, variables)).toEqual(expected);
  expect(readEnv(schema, { ...variables, PORT: ' ', VERBOSE: '\r' })).toEqual({
    ...expected,
    PORT: 3000,
    VERBOSE: false,
  });
  expect(() => readEnv(schema, { DATABASE_URL: ' ' })).toThrow('DATABASE_URL: is not set');
});

test('it documents each variable in a row', () => {
  expect(documentEnv(schema)).toBe(
    [
      '| Variable | Default | Meaning |',
      '|---|---|---|',
      '| `PORT` | `3000` | port of the API |',
      '| `DATABASE_URL` | required | the database |',
      '| `VERBOSE` | `false` | say more |',
      '| `NODE_URL` | unset | the node |',
      '',
    ].join('\n'),
  );
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

const problemOf = (url: string): unknown => postgresUrl().safeParse(url).error?.issues[0]?.message;

test.each(['a@b,c', 'a@b:1,c:2', 'a:x,y@b,c', 'b,c'])('an address of Postgres names one host, unlike %s', (hosts) => {
  expect(problemOf(`postgres://${hosts}/d?sslmode=require`)).toBe(
    'must name one host: the programs do not try several',
  );
});

test.each(['sslrootcert', 'sslcert', 'sslkey'])('a file of %s can be read and is a PEM file', (name) => {
  const problem = `has an ${name} that cannot be read, or is not a PEM file`;
  for (const path of ['/nowhere/file.pem', import.meta.dirname, import.meta.filename])
    expect(problemOf(`postgres://a@b/c?sslmode=verify-full&${name}=${path}`)).toBe(problem);
  expect(problemOf('postgres://a@b/c?sslrootcert=system')).toBeUndefined();
});

test('a password may have a comma', () => {
  expect(problemOf('postgres://a:x,y@b/c')).toBeUndefined();
  expect(problemOf('postgres://a:x,y/z@b/c')).toBe(DATABASE_URL_FORM);
});

test('an address of Postgres has a host, and user and password before it', () => {
  expect(problemOf('postgres://a:b@%2Fvar%2Frun%2Fpostgresql/c')).toBeUndefined();
  expect(problemOf('postgres://a@b/c?sslmode=require')).toBeUndefined();
  expect(problemOf('postgres:///c?host=/var/run/postgresql')).toMatch(/^must name a host/);
  expect(problemOf('postgres://b/c?user=a&password=d')).toMatch(/^must have user and password before the host/);
  expect(problemOf('b/c')).toMatch(/^must be an address/);
});
