import { expect, it } from 'vitest';
import { RecentlyUsed } from './recently-used.ts';

it('forgets what is unused when there is much of it', () => {
  const counts = new RecentlyUsed<{ count: number }>(({ count }) => count > 0, 3);
  const used = counts.add('used', { count: 1 });
  for (const name of ['a', 'b']) counts.add(name, { count: 0 });
  expect(counts.get('a')).toEqual({ count: 0 });
  counts.add('c', { count: 0 });
  expect(['used', 'a', 'b', 'c'].map((name) => counts.get(name)?.count)).toEqual([1, undefined, undefined, 0]);
  expect(counts.get('used')).toBe(used);
  expect(counts.size).toBe(2);
});
