import { expect, test } from 'vitest';
import { textTable } from './command-line.ts';

test('pads columns, puts numbers to the right and shows bytes as Postgres does', () => {
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

test('is only a head without rows', () => {
  expect(textTable(['id'], [])).toBe('id\n--');
});
