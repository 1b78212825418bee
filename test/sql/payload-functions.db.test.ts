/**
 * Functions that read what anybody has written into payloads: they never fail, and say the same as
 * the decoders in TypeScript.
 */
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { parseJson, poolOf } from '@kasgres/programs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

async function evaluate<T>(expression: string, values: readonly (Uint8Array | string)[]): Promise<T[]> {
  const type = typeof values[0] === 'string' ? 'text' : 'bytea';
  const { rows } = await database.pool.query<{ result: T }>(
    `select ${expression} as result from unnest($1::${type}[]) with ordinality given (value, place) order by place`,
    [values.map((value) => (typeof value === 'string' ? value : Buffer.from(value)))],
  );
  return rows.map(({ result }) => result);
}

const hexOf = (text: string): string => Buffer.from(text).toString('hex');

test('sessions decide nothing of how literals with backslashes are read', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc
      where pronamespace in ('public'::regnamespace, 'kaspa'::regnamespace)
        and strpos(regexp_replace(prosrc, '--[^\n]*|E''[^'']*''', '', 'g'), chr(92)) > 0
        and not 'standard_conforming_strings=on' = any (coalesce(proconfig, '{}'))`,
  );
  expect(rows).toEqual([]);
  const client = await database.pool.connect();
  try {
    await client.query('set standard_conforming_strings = off');
    const { rows: read } = await client.query(
      'select kaspa.text_of($1) as text, kaspa.text_of($2) as none, kaspa.json_of($1) as json, pool_of($3) as pool',
      [hexOf('{"ü": "\\u00fc"}'), '00', Buffer.from('1.1.0/www.f2pool.com/')],
    );
    expect(read).toEqual([{ text: '{"ü": "\\u00fc"}', none: null, json: { ü: 'ü' }, pool: 'f2pool.com' }]);
  } finally {
    client.release(true);
  }
});

const coinbasePayload = (scriptLength: number, after: string) =>
  Buffer.concat([Buffer.alloc(18), Buffer.of(scriptLength), Buffer.from(after)]);

test('extra_data_of reads what follows the script, and null without one', async () => {
  const { rows } = await database.pool.query(
    `select extra_data_of(payload) as extra
       from unnest($1::bytea[]) with ordinality payloads (payload, number) order by number`,
    [[coinbasePayload(2, 'sspool'), coinbasePayload(9, 's'), Buffer.alloc(18), Buffer.alloc(0)]],
  );
  expect(rows.map(({ extra }) => (extra as Buffer | null)?.toString())).toEqual(['pool', '', undefined, undefined]);
});

describe('pool_of', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      'f2pool.com',
      'www.f2pool.com',
      'miningcore',
      'a.b',
      'F2Pool.COM',
      '1.1.0',
      '\0',
      '\\',
      'é',
      `${'x'.repeat(99)}.com`,
    ),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  );
  const extraData = fc.array(piece, { maxLength: 7 }).map((pieces) => Buffer.from(pieces.join(''), 'latin1'));

  test('names the same pools as poolOf', async () => {
    const samples = [
      ...fc.sample(extraData, { numRuns: 2_000, seed: 1 }),
      Buffer.from('1.1.0/f2pool.com/'),
      Buffer.from('/a.com/b.com/'),
    ];
    const pools = await evaluate<string | null>('pool_of(value)', samples);
    expect(pools).toEqual(samples.map((sample) => poolOf(sample) ?? null));
    expect(new Set(pools).size).toBeGreaterThan(3);
  });
});

describe('kaspa.json_of', () => {
  test.each([
    ['an object', '{"p":"krc-20","n":[1,{"ü":null}]}', { p: 'krc-20', n: [1, { ü: null }] }],
    ['an array after spaces', ' \n[1]', [1]],
    ['a number', '1', null],
    ['text', 'kasplex', null],
    ['half an object', '{"a":', null],
    ['depth 10,000', '['.repeat(10_000) + ']'.repeat(10_000), null],
    ['depth 10,000 without an end', '['.repeat(10_000), null],
    ['NUL', '{"a":"\0"}', null],
    ['an escaped NUL', String.raw`{"a":"\u0000"}`, null],
    ['an escaped lone surrogate', String.raw`{"a":"\ud800"}`, null],
    ['70 kB', JSON.stringify(['x'.repeat(70_000)]), null],
    // jsonb would write it as 131,072 digits.
    ['a number with a large exponent', '[1e131071]', null],
    ['a number with a small exponent', '[1.5E-16383]', null],
    ['a number with zeros in its exponent', '[1e+0000016383]', null],
    ['a number with an exponent behind a string', String.raw`{"a":"\\","b":1e999}`, null],
    ['exponents of two digits', '[1e20,2E-7]', [1e20, 2e-7]],
    ['digits that look like an exponent in a string', String.raw`{"ca":"3e1234\"5e678"}`, { ca: '3e1234"5e678' }],
    ['equal keys', '{"a":1,"a":2}', { a: 2 }],
  ])('of %s', async (_name, text, expected) => {
    expect(await evaluate('kaspa.json_of(value)', [hexOf(text)])).toEqual([expected]);
  });

  test('is null for what is no hex, and for bytes that are no UTF-8', async () => {
    expect(
      await evaluate('kaspa.json_of(value)', ['', 'x', '7b7', '7bff7d', '5b22eda08022 5d', '5b22eda080225d']),
    ).toEqual([null, null, null, null, null, null]);
  });

  test('never fails, and shows nothing else than the decoders', async () => {
    const json = fc.oneof(
      fc.json(),
      fc.uint8Array({ maxLength: 20 }).map((bytes) => `[${Buffer.from(bytes).toString('latin1')}]`),
      fc.string(),
    );
    const samples = fc.sample(json, { numRuns: 1_000, seed: 2 });
    const found = await evaluate<unknown>('kaspa.json_of(value)', samples.map(hexOf));
    for (const [i, value] of found.entries()) {
      if (value === null) continue;
      expect(typeof parseJson(Buffer.from(samples[i] as string)), samples[i]).toBe('object');
    }
    expect(found.filter((value) => value !== null).length).toBeGreaterThan(100);
  });
});

test('kaspa.text_of is null for control and bidirectional characters, invalid UTF-8 and what is no hex', async () => {
  expect(
    await evaluate('kaspa.text_of(value)', [hexOf('Grüße'), hexOf('a\0'), hexOf('a\u202e'), 'ff', 'xyz', 'abc']),
  ).toEqual(['Grüße', null, null, null, null, null]);
});
