import { expect, test } from 'vitest';
import { textTable } from './command-line.ts';

test('it pads columns, aligns numbers right and prints bytes like Postgres', () => {
  const rows = [
    [1n, 'a', new Uint8Array([1, 255])],
    [200n, null, { amounts: [5n] }],
  ];
  expect(textTable(['id', 'name', 'value'], rows)).toBe(
    [' id  name  value', '---  ----  -----------------', '  1  a     \\x01ff', '200        {"amounts":["5"]}'].join(
      '\n',
    ),
  );
});

test('it prints only the header without rows', () => {
  expect(textTable(['id'], [])).toBe('id\n--');
});
