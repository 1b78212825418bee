import { expect, test } from 'vitest';
import { parseCatchUpSeconds, parseTipMs } from '../../bench/parse-output.ts';

test('it reads the text of older commits', () => {
  const output = [
    '2 x AMD EPYC, 24 GiB; Postgres 18.1; Node v24.21.0',
    'node alone       9.2 s  46,646 tx/s, 560 MB',
    'node to commit   31.6 s  13,630 tx/s, 153,485 rows/s',
    '  wait           9.8 s',
  ];
  expect(parseCatchUpSeconds(output.join('\n'))).toBe(31.6);
});

test('it reads JSON', () => {
  const output = { machine: 'x', medians: { nodeToCommitSeconds: 30, catchUpSeconds: 28.5 }, runs: [] };
  expect(parseCatchUpSeconds(JSON.stringify(output, null, 2))).toBe(28.5);
});

test.each(['', '{}', '{"medians":{}}', 'node alone 9.2 s'])('it refuses %j', (output) => {
  expect(() => parseCatchUpSeconds(output)).toThrow('has no time of a catch-up');
});

test('it reads the median of the tip', () => {
  expect(parseTipMs(JSON.stringify({ medians: { latencyP50Ms: 19.4, latencyP99Ms: 68 }, runs: [] }))).toBe(19.4);
  expect(() => parseTipMs('{"medians":{}}')).toThrow('has no time of a response');
});
