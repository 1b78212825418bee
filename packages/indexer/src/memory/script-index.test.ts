import { expect, test } from 'vitest';
import { ScriptIndex } from './two-generations.ts';

test('holds keys by name', () => {
  const index = new ScriptIndex();
  index.set('a', 1);
  index.set('b', 2);
  expect([index.get('a'), index.get('b'), index.get('c')]).toEqual([1, 2, undefined]);
});

test('a long script counts as many usual ones, and once', () => {
  const index = new ScriptIndex();
  index.set('', 0);
  index.set('x'.repeat(34), 1);
  expect(index.size).toBe(2);
  for (let time = 0; time < 2; time += 1) index.set('x'.repeat(10_000), 2);
  expect(index.size).toBe(252);
});
