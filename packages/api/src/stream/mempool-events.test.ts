import { createLogger } from '@kasgres/runtime';
import { afterEach, expect, test, vi } from 'vitest';
import { EventLoopTurns } from '../fairness/event-loop-turns.ts';
import type { IndexReader } from '../index-state/state.ts';
import type { MempoolSample, MempoolSamples } from '../mempool-samples.ts';
import { MempoolEvents } from './mempool-events.ts';
import type { EventName, Message } from './messages.ts';
import type { Subscriber } from './subscriber.ts';

afterEach(() => void vi.useRealTimers());

test('every client learns once that the mempool cannot be read, and gets a snapshot when it can be read again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let sample: MempoolSample | undefined;
  const mempool = {
    get: async () => {
      if (sample === undefined) throw new Error('no node');
      return sample;
    },
  };
  const subscribers = new Set<Subscriber>();
  const join = () => {
    const sent: unknown[] = [];
    const subscription = { events: new Set<EventName>(['mempool']), addresses: new Set<string>() };
    const send = (messages: readonly Message[]) =>
      void sent.push(...messages.map(({ data }) => JSON.parse(data) as unknown));
    subscribers.add({ subscription, send } as unknown as Subscriber);
    return sent;
  };
  const options = {
    index: undefined as unknown as IndexReader,
    turns: new EventLoopTurns(),
    mempool: mempool as unknown as MempoolSamples,
    logger: createLogger({ name: 'test', level: 'silent' }),
  };
  const events = new MempoolEvents(options, subscribers);
  const first = join();
  events.wake();
  await vi.advanceTimersByTimeAsync(3000);
  const second = join();
  await vi.advanceTimersByTimeAsync(2000);
  expect([first, second]).toEqual([[{ available: false }], [{ available: false }]]);

  sample = { timestamp: 0, transactions: new Map() };
  await vi.advanceTimersByTimeAsync(2000);
  const snapshot = { added: [], removed: [], isSnapshot: true };
  expect([first, second]).toEqual([
    [{ available: false }, snapshot],
    [{ available: false }, snapshot],
  ]);
  events.close();
});
