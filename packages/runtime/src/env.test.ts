import { expect, test } from 'vitest';
import { z } from 'zod';
import { documentEnv, EnvError, parsed, postgresUrl, readEnv } from './env.ts';

const schema = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(3000).describe('port of the API'),
  DATABASE_URL: postgresUrl().describe('the database'),
  VERBOSE: z.stringbool().default(false).describe('say more'),
  NODE_URL: z.string().optional().describe('the node'),
});

test('values are parsed and defaults filled in', () => {
  expect(readEnv(schema, { DATABASE_URL: 'postgres://a@b/c', VERBOSE: 'false', UNKNOWN: 'x' })).toEqual({
    PORT: 3000,
    DATABASE_URL: 'postgres://a@b/c',
    VERBOSE: false,
  });
});

test('all problems are reported at once, without the values', () => {
  const error = catchError(() => readEnv(schema, { PORT: 'hunter2', VERBOSE: 'perhaps' }));
  expect(error).toBeInstanceOf(EnvError);
  expect((error as EnvError).problems).toHaveLength(3);
  expect((error as Error).message).toContain('DATABASE_URL: is not set (the database)');
  expect((error as Error).message).toContain('PORT: ');
  expect((error as Error).message).not.toContain('hunter2');
});

test('what is wrong with a variable of its own form is told with the rest', () => {
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
  ['a word', z.enum(['stop', 'record']).default('stop'), ['Stop', '1'], 'must be one of stop, record'],
  [
    'a database',
    postgresUrl().optional(),
    ['mysql://a@b/c', 'localhost', 'postgres', 'http://[::1'],
    'must be an address such as postgres://user:password@host:port/database',
  ],
])('a problem with %s says what is expected', (_, field, values, expected) => {
  for (const value of values) {
    const error = catchError(() => readEnv(z.object({ IT: field.describe('what it is') }), { IT: value }));
    expect((error as EnvError).problems, value).toEqual([`IT: ${expected} (what it is)`]);
  }
});

test('an empty variable counts as unset', () => {
  expect(readEnv(schema, { DATABASE_URL: 'postgres://a@b/c', PORT: '', NODE_URL: '' })).toMatchObject({ PORT: 3000 });
  expect(() => readEnv(schema, { DATABASE_URL: '' })).toThrow('DATABASE_URL: is not set');
});

test('the documentation has a row for each variable', () => {
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
