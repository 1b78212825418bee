import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactNumber, markExactIntegers, withoutMark } from './exact-integers.ts';

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
      expect(JSON.stringify({ sequence: exactNumber(value) })).toBe(`{"sequence":${value}}`);
    }),
  );
});
