import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  exactNumber,
  markExactIntegers,
  parseExactNumbers,
  rawNumbers,
  stringifyExact,
  withoutMark,
} from './exact-integers.ts';

const LONG = '18446744073709551615';

/** Parses an object or array, and removes the marks of its values. */
function parse(text: string): unknown {
  const parsed = JSON.parse(markExactIntegers(text)) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(parsed).map(([name, value]) => [name, typeof value === 'string' ? withoutMark(value) : value]),
  );
}

it('keeps all digits of long integers, and does not change other numbers', () => {
  const text = `{"long":${LONG},"sixteen" : 1234567890123456 ,"fifteen":123456789012345,"negative":-${LONG},"real":1234567890123456.5,"power":12345678901234567e1}`;
  expect(parse(text)).toEqual({
    long: LONG,
    sixteen: '1234567890123456',
    fifteen: 123_456_789_012_345,
    negative: Number(`-${LONG}`),
    real: 1_234_567_890_123_456.5,
    power: Number('12345678901234567e1'),
  });
  expect(
    Object.values(JSON.parse(markExactIntegers(`[${LONG},1,${LONG}]`)) as object)
      .map(String)
      .map(withoutMark),
  ).toEqual([LONG, '1', LONG]);
});

it('finds no number within a string', () => {
  const text = JSON.stringify({ a: `:${LONG}`, b: `\\":${LONG},"\\\\`, [`,${LONG}`]: `\n${LONG}` });
  expect(markExactIntegers(text)).toBe(text);
});

it.each([
  `{${LONG}:1}`,
  `{${LONG} \n:1}`,
  `{"a":0${LONG}}`,
  `{"a":--${LONG}}`,
  `{"a":${LONG}-1}`,
  `{"a":${LONG}`,
  `{"a":${LONG},"b":"\\"`,
  `{"a":${LONG},"b":"\\\n"}`,
])('keeps invalid JSON invalid: %j', (text) => {
  expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  expect(() => JSON.parse(markExactIntegers(text)) as unknown).toThrow(SyntaxError);
});

const MIB = 2 ** 20;
/** With quadratic time, the first case would take about 20 minutes. */
const MAX_CPU_MS = 1000;

it.each<[string, string]>([
  ['a string of escapes that does not end', `{"a":${LONG},"b":"${'\\"'.repeat(MIB / 2)}`],
  ['backslashes that do not end', `{"a":${LONG},"b":"${'\\\\'.repeat(MIB / 2)}`],
  ['a line break after a backslash', `{"a":${LONG},"b":"${'\\"'.repeat(MIB / 2)}\\\n"}`],
  ['strings that begin again and again', `{"a":${LONG},${'"\\'.repeat(MIB / 2)}`],
  ['a number without end', `{"a":${LONG},"b":${'9'.repeat(MIB)}`],
  ['digits and signs', `{"a":${LONG},"b":${'9-'.repeat(MIB / 2)}`],
  ['spaces after numbers', `[${`${LONG}${' '.repeat(1000)}`.repeat(MIB / 1020)}`],
])('takes linear time for %s', (_, text) => {
  const { user: begun } = process.cpuUsage();
  markExactIntegers(text);
  expect((process.cpuUsage().user - begun) / 1000).toBeLessThan(MAX_CPU_MS);
});

it('writes every unsigned 64-bit number with all its digits', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 64n - 1n), (value) => {
      expect(stringifyExact({ sequence: exactNumber(value) })).toBe(`{"sequence":${value}}`);
    }),
  );
});

it('serializes numbers that a double does not hold as they were written', () => {
  for (const text of [
    String.raw`{"a":1e400,"b":[12345678901234567890,-1e-320,0.12345678901234567890,"1e400","\"1e400"],"__proto__":{"c":1e999}}`,
    '[1,2.5,null,true,"x",{},0.1,1234567890123456,9007199254740993]',
    '1e400',
    '12',
  ])
    expect(stringifyExact(parseExactNumbers(text))).toBe(text);
  expect(parseExactNumbers('{"a":[1,"2",1.10,1e5,0e999,1000000000000000000000]}')).toEqual({
    a: [1, '2', 1.1, 100_000, 0, 1e21],
  });
  // The last of equal keys counts.
  expect(stringifyExact(parseExactNumbers('{"a":1e400, "a":2}'))).toBe('{"a":2}');
  for (const text of ['{1:2}', '01', '1e', '"1', '{"a":1e400'])
    expect(() => parseExactNumbers(text)).toThrow(SyntaxError);
});

it('refuses a text with many such numbers, so that it takes little time', () => {
  expect(stringifyExact(parseExactNumbers(`[${'1e400,'.repeat(255)}1e400]`))).toMatch(/^\[(?:1e400,){255}1e400\]$/);
  expect(() => parseExactNumbers(`[${'1e400,'.repeat(256)}1e400]`)).toThrow(RangeError);
});

it('parses every JSON to the same value as JSON.parse', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(stringifyExact(parseExactNumbers(text)))).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
    }),
  );
});

it.each([
  ['with JSON.rawJSON', JSON.rawJSON],
  ['without it, as in Node 20', undefined],
])('writes raw numbers %s', (_, rawJSON) => {
  const { toRaw, stringify } = rawNumbers(rawJSON);
  expect(stringify({ a: toRaw(LONG), b: [toRaw('1e400'), `"${LONG}"`, 1, null] })).toBe(
    `{"a":${LONG},"b":[1e400,"\\"${LONG}\\"",1,null]}`,
  );
  expect(stringify(toRaw('-1'))).toBe('-1');
});
