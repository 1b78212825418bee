import { afterEach, expect, test, vi } from 'vitest';
import type { Follower } from './follower.ts';
import type { Message } from './messages.ts';
import { type Output, Subscriber } from './subscriber.ts';

afterEach(() => void vi.useRealTimers());

/** A subscriber at the sink, whose client has not taken a number of bytes. */
function subscribe(unsent: () => number) {
  const sent: Message[] = [];
  const closed: string[] = [];
  const output: Output = {
    send: (message) => void sent.push(message),
    get unsentBytes() {
      return unsent();
    },
    close: (reason) => void closed.push(reason),
  };
  const follower = { add: () => {}, remove: () => {}, stepsFrom: () => [], nextRead: async () => {} };
  const subscriber = new Subscriber({
    follower: follower as unknown as Follower,
    streams: { catchUp: async () => undefined },
    output,
    subscription: { events: new Set(['chain']), addresses: new Set(), confirmations: undefined, withIds: false },
    cursor: 'ab'.repeat(32),
    blueScore: '5',
  });
  subscriber.start();
  return { subscriber, sent, closed };
}

test('it closes a client with more than a megabyte unsent for ten seconds, and no other', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  let unsent = 2 ** 20;
  const { subscriber, closed } = subscribe(() => unsent);
  vi.advanceTimersByTime(60_000);
  expect(closed).toEqual([]);
  unsent = 2 ** 20 + 1;
  vi.advanceTimersByTime(9000);
  unsent = 0;
  vi.advanceTimersByTime(2000);
  unsent = 2 ** 20 + 1;
  vi.advanceTimersByTime(10_000);
  expect(closed).toEqual([]);
  vi.advanceTimersByTime(2000);
  expect(closed[0]).toBe('slow');
  subscriber.close();
});

test('it sends a heartbeat with the cursor at once, and every 15 seconds', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { subscriber, sent } = subscribe(() => 0);
  vi.advanceTimersByTime(31_000);
  subscriber.close();
  vi.advanceTimersByTime(31_000);
  expect(sent).toEqual(
    Array.from({ length: 3 }, () => ({
      event: 'heartbeat',
      data: JSON.stringify({ sink: 'ab'.repeat(32), blueScore: '5' }),
      id: 'ab'.repeat(32),
    })),
  );
});
