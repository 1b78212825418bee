import { expect, test } from 'vitest';
import { TwoGenerations } from './two-generations.ts';

test('knows everything up to its bound', () => {
  const memory = new TwoGenerations(() => new Map<number, number>(), 100);
  for (let n = 0; n < 100; n += 1) {
    memory.set(n, n);
    memory.evict();
  }
  for (let n = 0; n < 100; n += 1) expect(memory.get(n)).toBe(n);
  expect(memory.forgot).toBe(false);
});

test('forgets the oldest and says so; from then on it keeps what is used', () => {
  const memory = new TwoGenerations(() => new Map<number, number>(), 100);
  for (let n = 0; n < 1_000; n += 1) {
    memory.set(n, n);
    memory.evict();
    if (n >= 150) expect(memory.get(150)).toBe(150);
  }
  expect(memory.forgot).toBe(true);
  expect(memory.get(500)).toBeUndefined();
  for (let n = 960; n < 1_000; n += 1) expect(memory.get(n)).toBe(n);
});

test('forgets nothing that was set since the time before', () => {
  const memory = new TwoGenerations(() => new Map<number, number>(), 10);
  for (let n = 0; n < 1_000; n += 1) memory.set(n, n);
  memory.evict();
  for (let n = 0; n < 1_000; n += 1) expect(memory.get(n)).toBe(n);
});
