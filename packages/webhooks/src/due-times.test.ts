import { expect, test, vi } from 'vitest';
import { DueTimes } from './due-times.ts';

const webhook = { id: 1n, revision: 1, failures: 1, deliveryId: 7n };

test('a pause takes as long as it did when it began, although the clock of the database was set back', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const dueTimes = new DueTimes();
  const dueAt = (more: object) => dueTimes.update([{ ...webhook, dueInMs: 1000, ...more }]).get(1n);
  const first = dueAt({});
  vi.advanceTimersByTime(900);
  // By a clock that stands still, the pause would begin again with each look.
  expect(dueAt({ dueInMs: 1000 })).toBe(first);
  expect(dueAt({ dueInMs: 0 })).toBe(first);
  // Another failure, another delivery, a change by the owner.
  expect(dueAt({ failures: 2, dueInMs: 2000 })).toBe(performance.now() + 2000);
  expect(dueAt({ deliveryId: 8n, dueInMs: 0 })).toBe(performance.now());
  expect(dueAt({ revision: 2, dueInMs: 0 })).toBe(performance.now());
  vi.useRealTimers();
});
