import { afterEach, expect, test, vi } from 'vitest';
import type { Follower, Sink } from './follower.ts';
import type { Message } from './messages.ts';
import type { Step } from './read-step.ts';
import { type Output, Subscriber } from './subscriber.ts';

afterEach(() => void vi.useRealTimers());

const SINK = 'ab'.repeat(32);
const BLOCK: Message = { event: 'block', data: '{}' };

/** A subscriber at the sink, whose client has not taken a number of bytes. The sink of the index may be another one by now. */
function subscribe(
  unsent: () => number,
  sinks: { first: Sink; later?: Sink } = { first: { hash: SINK, blueScore: 5n } },
) {
  const sent: Message[] = [];
  const writes: (readonly Message[])[] = [];
  let joined = 0;
  const closed: string[] = [];
  const output: Output = {
    send: (messages) => {
      sent.push(...messages);
      writes.push(messages);
    },
    get unsentBytes() {
      return unsent();
    },
    close: (reason) => void closed.push(reason),
  };
  const stepsFrom = (): Step[] => {
    joined += 1;
    return [];
  };
  const follower = { sink: sinks.later, add: () => {}, remove: () => {}, stepsFrom, nextRead: async () => {} };
  const subscriber = new Subscriber({
    follower: follower as unknown as Follower,
    streams: { catchUp: async () => undefined },
    output,
    subscription: {
      events: new Set(['chain', 'block']),
      addresses: new Set(),
      confirmations: undefined,
      withIds: false,
    },
    cursor: SINK,
    sink: sinks.first,
  });
  subscriber.start();
  return { subscriber, sent, writes, closed, joins: () => joined };
}

test('it closes a client with more than a megabyte unsent for ten seconds, and no other', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  let unsent = 2 ** 20;
  const { subscriber, closed } = subscribe(() => unsent);
  subscriber.send(BLOCK);
  vi.advanceTimersByTime(60_000);
  expect(closed).toEqual([]);
  unsent = 2 ** 20 + 1;
  subscriber.send(BLOCK);
  vi.advanceTimersByTime(9000);
  unsent = 0;
  vi.advanceTimersByTime(2000);
  unsent = 2 ** 20 + 1;
  subscriber.send(BLOCK);
  vi.advanceTimersByTime(9000);
  expect(closed).toEqual([]);
  vi.advanceTimersByTime(2000);
  expect(closed[0]).toBe('slow');
  subscriber.close();
});

test('it sends a heartbeat with the cursor and the sink of the index at once, and every 15 seconds', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const first = { hash: 'cd'.repeat(32), blueScore: 8n };
  const later = { hash: 'ef'.repeat(32), blueScore: 9n };
  const { subscriber, sent } = subscribe(() => 0, { first, later });
  vi.advanceTimersByTime(31_000);
  subscriber.close();
  vi.advanceTimersByTime(31_000);
  expect(sent).toEqual(
    [first, later, later].map(({ hash, blueScore }) => ({
      event: 'heartbeat',
      data: JSON.stringify({ sink: hash, blueScore: String(blueScore) }),
      id: SINK,
    })),
  );
});

const makeStep = (from: string, to: string): Step => ({
  from,
  to,
  blueScore: 6n,
  isCaughtUp: true,
  hasBalances: true,
  removed: [],
  added: [],
  changes: undefined,
});

test('what the follower has read at once is written at once', () => {
  const { subscriber, writes } = subscribe(() => 0);
  subscriber.onRead([BLOCK, BLOCK], makeStep(SINK, 'cd'.repeat(32)));
  subscriber.onRead([], makeStep('cd'.repeat(32), SINK));
  subscriber.onRead([], undefined);
  subscriber.close();
  subscriber.onRead([BLOCK], makeStep(SINK, 'cd'.repeat(32)));
  expect(writes.map((messages) => messages.map(({ event, id }) => [event, id]))).toEqual([
    [['heartbeat', SINK]],
    [
      ['block', undefined],
      ['block', undefined],
      ['chain', 'cd'.repeat(32)],
    ],
    [['chain', SINK]],
  ]);
});

test('it does not take a step twice, and catches up if it misses one', () => {
  const { subscriber, writes, joins } = subscribe(() => 0);
  expect(joins()).toBe(1);
  subscriber.onRead([], makeStep('cd'.repeat(32), SINK));
  expect(joins()).toBe(1);
  subscriber.onRead([], makeStep('cd'.repeat(32), 'ef'.repeat(32)));
  expect(joins()).toBe(2);
  expect(writes).toHaveLength(1);
  subscriber.close();
});
