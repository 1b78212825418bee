import { expect, test } from 'vitest';
import {
  escapeUnseen,
  formatAge,
  formatDuration,
  formatHashRate,
  formatKas,
  parseKas,
  shortAddress,
  shortHash,
  splitAmount,
  textOfHex,
} from './format.ts';

test('amounts have eight decimals in columns, and no trailing zeros in text', () => {
  expect(splitAmount('123456700000000')).toEqual({ sign: '', kas: '1,234,567', fraction: '00000000' });
  expect(splitAmount('-1')).toEqual({ sign: '−', kas: '0', fraction: '00000001' });
  expect([formatKas('1250000000'), formatKas('100000000'), formatKas('-1')]).toEqual([
    '12.5 KAS',
    '1 KAS',
    '−0.00000001 KAS',
  ]);
});

test('an entered amount becomes sompi', () => {
  expect([parseKas('1.5'), parseKas('0,00000001'), parseKas(' 7 ')]).toEqual(['150000000', '1', '700000000']);
  expect(['1,5', '0,125', '1,500', '1,234,567.5'].map(parseKas)).toEqual([
    '150000000',
    '12500000',
    '150000000000',
    '123456750000000',
  ]);
  expect(['', '1.', '-1', '1e3', '0.123456789', '1,23,456'].map(parseKas)).toEqual(Array.from({ length: 6 }));
});

test('hash rates have a unit', () => {
  expect([0, 999, 1500, 123_456_000_000_000].map(formatHashRate)).toEqual(['0 H/s', '999 H/s', '1.5 kH/s', '123 TH/s']);
});

test('hashes and addresses keep their ends', () => {
  expect(shortHash('0123456789abcdef'.repeat(4))).toBe('01234567…abcdef');
  expect(shortAddress('kaspa:qrc856jp0akueamq6l5xujhf2zhz750d4y')).toBe('kaspa:qrc856…750d4y');
});

test('times are relative to now, also if the clocks differ', () => {
  const now = 10_000_000;
  expect([0, 1000, 59_000, 3_600_000, -5000].map((age) => formatAge(now - age, now))).toEqual([
    'just now',
    'just now',
    '59 s ago',
    '1 h ago',
    'in 5 s',
  ]);
  expect([0, 59, 60, 86_400, 40_000_000].map(formatDuration)).toEqual(['0 s', '59 s', '1 min', '1 d', '1 y']);
});

test('bytes are text only if a reader sees all of it', () => {
  expect(textOfHex('0x68c3b6')).toBe('hö');
  expect(textOfHex('0x')).toBe('');
  for (const hex of ['ff', '6800', '68e280ae', '68e2808b', '68efbbbf', 'efbbbf68', '680a', 'eda080'])
    expect([hex, textOfHex(hex)]).toEqual([hex, undefined]);
});

test('texts of the chain show what a reader would not see', () => {
  expect(escapeUnseen('hö 👍')).toBe('hö 👍');
  expect(escapeUnseen('a\u202eb\u0000c\u200bd\ud800e\n')).toBe('a\\u{202e}b\\u{0}c\\u{200b}d\\u{d800}e\\u{a}');
});
