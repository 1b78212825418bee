import { expect, test } from 'vitest';
import { markdownTable, median, mediansOf, parseOptions, percentile, tableOfRuns } from '../../bench/options.ts';

const DEFAULTS = { runs: 3, seconds: 5, 'reads-per-second': 0, keep: '', plain: false };
const parse = (...args: string[]) => parseOptions(args, DEFAULTS);

test('it takes defaults for options that are not given', () => {
  expect(parse()).toEqual({ ...DEFAULTS, json: false, positionals: [] });
});

test('it reads numbers, texts, flags and the rest', () => {
  const args = ['--json', '--runs', '5', '--reads-per-second=2.5', 'by id', '--keep', 'kept', '--plain'];
  expect(parse(...args)).toEqual({
    json: true,
    runs: 5,
    seconds: 5,
    'reads-per-second': 2.5,
    keep: 'kept',
    plain: true,
    positionals: ['by id'],
  });
});

test.each([
  ['--runs', '0'],
  ['--runs', '1.5'],
  ['--seconds', 'x'],
  ['--seconds', ''],
  ['--seconds=-1'],
  ['--run', '3'],
])('it refuses %s %s', (...args) => {
  expect(() => parse(...args)).toThrow(args[0]?.split('=')[0]);
});

test('medians and percentiles are of sorted numbers', () => {
  expect(median([10, 9, 100])).toBe(10);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeNaN();
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([0, 0.5, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([1, 50, 99, 100]);
});

test('a table of runs ends with the medians', () => {
  const runs = [1.25, 1000, 3].map((seconds) => ({ seconds, memory: undefined }));
  const figures = { seconds: ['time, s', 1], memory: ['memory, MB', 0] } as const;
  expect(tableOfRuns(runs, figures)).toBe(
    markdownTable(
      ['', 'run 1', 'run 2', 'run 3', 'median'],
      [
        ['time, s', '1.3', '1,000.0', '3.0', '3.0'],
        ['memory, MB', '', '', '', ''],
      ],
    ),
  );
  expect(
    mediansOf([
      { a: 1, b: 'x', c: 2 },
      { a: 3, b: 'y' },
    ]),
  ).toEqual({ a: 2 });
});
