import { expect, test } from 'vitest';
import { PageBuffers } from './pages.ts';

const MEBIBYTE = 1024 * 1024;
const page = (bytes: number, fill: number): Uint8Array => new Uint8Array(bytes).fill(fill);

test('a copy stays as it is until it is given back, and its buffer is used again', () => {
  const buffers = new PageBuffers(2);
  const original = page(1_000, 1);
  const first = buffers.copy(original);
  original.fill(9);
  const second = buffers.copy(page(5 * MEBIBYTE, 2));
  expect(first).toEqual(Buffer.from(page(1_000, 1)));
  expect(second.every((byte) => byte === 2)).toBe(true);
  buffers.giveBack(first);
  buffers.giveBack(second);
  const third = buffers.copy(page(4 * MEBIBYTE + 1, 3));
  expect(third.buffer).toBe(second.buffer);
  expect(third.length).toBe(4 * MEBIBYTE + 1);
});

test('no more are kept than it was told, and no large one', () => {
  const buffers = new PageBuffers(1);
  const [small, middle, large] = [
    buffers.copy(page(1, 1)),
    buffers.copy(page(20 * MEBIBYTE, 1)),
    buffers.copy(page(33 * MEBIBYTE, 1)),
  ];
  for (const copy of [small, middle, large]) buffers.giveBack(copy);
  expect(buffers.copy(page(1, 2)).buffer).toBe(middle.buffer);
  const others = [small.buffer, middle.buffer, large.buffer];
  expect(others).not.toContain(buffers.copy(page(1, 2)).buffer);
});
