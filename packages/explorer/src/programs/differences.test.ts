import { expect, test } from 'vitest';
import { bytesOfHex } from '../format.ts';
import { changesBetween, entriesOf, varyingPushes } from './differences.ts';

const [one, two, three] = ['0105020a0bac', '0106020a0bac', '5102ffffac'].map(bytesOfHex) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

const entry = (...required: { push: number; value?: string; hash?: string }[]) => ({
  importedFrom: 'a.yaml',
  required,
});

test('the changes of a state are those of its pushes', () => {
  expect(changesBetween(one, two)).toEqual([{ push: 0, before: Uint8Array.of(5), after: Uint8Array.of(6) }]);
  expect(changesBetween(two, three)).toEqual([
    { push: 0, before: Uint8Array.of(6), after: Uint8Array.of(1) },
    { push: 1, before: Uint8Array.of(10, 11), after: Uint8Array.of(255, 255) },
  ]);
  expect(changesBetween(one, one)).toEqual([]);
});

test('programs of different templates have no changes', () => {
  expect(changesBetween(one, bytesOfHex('0105020a0bab'))).toBeUndefined();
  expect(varyingPushes(one, [bytesOfHex('0105020a0bab')])).toEqual(new Set());
});

test('pushes vary that differ in any other program', () => {
  expect(varyingPushes(one, [two])).toEqual(new Set([0]));
  expect(varyingPushes(one, [two, three])).toEqual(new Set([0, 1]));
});

test('an entry applies to programs that have its required values, and wins over those with fewer', async () => {
  const hash = '8e3bba856c3a7fe6d058536dc840882d474373ec842e45ffcaf1079384fe75e9';
  const [any, five, long, other, absent] = [
    entry(),
    entry({ push: 0, value: '05' }, { push: 1, value: '0a0b' }),
    entry({ push: 1, hash }),
    entry({ push: 1, hash: '00'.repeat(32) }),
    entry({ push: 2, hash }),
  ];
  const entries = [any, five, long, other, absent];
  expect(await entriesOf(one, entries)).toEqual([five]);
  expect(await entriesOf(two, entries)).toEqual([long]);
  expect(await entriesOf(three, entries)).toEqual([any]);
  const elsewhere = { ...any, importedFrom: 'b.yaml' };
  expect(await entriesOf(one, [...entries, elsewhere])).toEqual([five, elsewhere]);
});
