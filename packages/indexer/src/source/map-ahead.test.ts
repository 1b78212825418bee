import { expect, test } from 'vitest';
import { mapAhead } from './pages.ts';

async function* count(to: number): AsyncGenerator<number> {
  for (let n = 0; n < to; n += 1) yield n;
}

async function failAtTwo(n: number): Promise<number> {
  if (n === 2) throw new Error('two');
  return n;
}

test('yields results in order, with no more than the width under way', async () => {
  let underWay = 0;
  let most = 0;
  const results: number[] = [];
  const slow = async (n: number): Promise<number> => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, n % 3));
    underWay -= 1;
    return n * 2;
  };
  for await (const result of mapAhead(count(30), slow, () => 4)) results.push(result);
  expect(results).toEqual(Array.from({ length: 30 }, (_, n) => n * 2));
  expect(most).toBe(4);
});

test('waits for whoever takes the results', async () => {
  let started = 0;
  const ahead = mapAhead(
    count(100),
    async (n) => {
      started += 1;
      return n;
    },
    () => 3,
  );
  await ahead.next();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(started).toBeLessThanOrEqual(3);
  await ahead.return(undefined);
});

test('throws a failure at its turn, after the results before it', async () => {
  const taken: number[] = [];
  const run = async (): Promise<void> => {
    for await (const n of mapAhead(count(9), failAtTwo, () => 5)) taken.push(n);
  };
  await expect(run()).rejects.toThrow('two');
  expect(taken).toEqual([0, 1]);
});
