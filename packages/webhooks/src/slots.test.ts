import { expect, test } from 'vitest';
import { Slots, type Task } from './slots.ts';

const taskOf = (id: number, key: number): Task => ({
  webhookId: BigInt(id),
  keyId: BigInt(key),
  deliveryId: BigInt(id),
});

/** Starts tasks that do not end. Returns the number of those that have begun, by key. */
function hold(slots: Slots, tasks: readonly Task[]): Record<string, number> {
  const begun: Record<string, number> = {};
  slots.start(tasks, async ({ keyId }) => {
    begun[String(keyId)] = (begun[String(keyId)] ?? 0) + 1;
    await new Promise(() => undefined);
  });
  return begun;
}

const many = (key: number, count: number): Task[] =>
  Array.from({ length: count }, (_, index) => taskOf(key * 1000 + index, key));

test('a key whose receivers hang leaves slots to every other key', () => {
  const slots = new Slots(200, () => undefined);
  expect(hold(slots, many(1, 500))).toEqual({ 1: 100 });
  for (let key = 2; key < 9; key += 1) expect(hold(slots, many(key, 500))[String(key)], String(key)).toBeGreaterThan(0);
});

test('keys take turns, and of a key the task that has been due for longest is first', () => {
  const slots = new Slots(6, () => undefined);
  const started: bigint[] = [];
  const tasks = [taskOf(1, 1), taskOf(2, 1), taskOf(3, 1), taskOf(4, 2), taskOf(5, 3)];
  slots.start(tasks, async ({ webhookId }) => void started.push(webhookId));
  expect(started).toEqual([1n, 4n, 5n, 2n]);
});

test('a slot is free again when its task has ended, and a webhook has one at a time', async () => {
  let freed = 0;
  const slots = new Slots(2, () => (freed += 1));
  const { promise, resolve } = Promise.withResolvers<void>();
  slots.start([taskOf(1, 1), taskOf(1, 1)], () => promise);
  expect([slots.has(1n), freed]).toEqual([true, 0]);
  resolve();
  await slots.allDone();
  expect([slots.has(1n), freed, slots.longestMs]).toEqual([false, 1, 0]);
});
