import { type EventName, type Message } from '@kasgres/chain-steps';
import { PackedPairs } from '@kasgres/node';
import { EventLoopTurns, type IndexReader } from '@kasgres/reads';
import { createLogger } from '@kasgres/runtime';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { MempoolSample, MempoolSamples } from '../node/mempool-samples.ts';
import { MempoolEvents } from './mempool-events.ts';
import type { Subscriber } from './subscriber.ts';

afterEach(() => void vi.useRealTimers());

/**
 * A mempool that is sampled once a second, and its subscribers. The sample is undefined while the
 * node is unavailable.
 */
function follow() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const node: { sample: Promise<MempoolSample> | MempoolSample | undefined } = { sample: undefined };
  const mempool = {
    get: async () => {
      if (node.sample === undefined) throw new Error('no node');
      return node.sample;
    },
  };
  const subscribers = new Set<Subscriber>();
  const join = () => {
    const sent: unknown[] = [];
    const subscription = { events: new Set<EventName>(['mempool']), addresses: new Set<string>() };
    const send = (messages: readonly Message[]) =>
      void sent.push(...messages.map(({ data }) => JSON.parse(data) as unknown));
    const subscriber = { subscription, send } as unknown as Subscriber;
    subscribers.add(subscriber);
    return { sent, subscriber, events: subscription.events };
  };
  const options = {
    index: undefined as unknown as IndexReader,
    turns: new EventLoopTurns(),
    mempool: mempool as unknown as MempoolSamples,
    logger: createLogger({ name: 'test', level: 'silent' }),
  };
  const events = new MempoolEvents(options, subscribers);
  onTestFinished(() => events.close());
  return { events, node, join };
}

const [FIRST, SECOND] = ['ab', 'cd'].map((byte) => byte.repeat(32)) as [string, string];

function sampleOf(...ids: readonly string[]): MempoolSample {
  const pending = {
    seenAt: 1,
    fee: 2n,
    mass: 3n,
    outputSum: 4n,
    paid: PackedPairs.none,
    spent: PackedPairs.none,
    bound: PackedPairs.none,
  };
  return { timestamp: 0, transactions: new Map(ids.map((id) => [id, { id, ...pending }])) };
}

const snapshotOf = (...ids: readonly string[]) => ({
  added: ids.map((transactionId) => expect.objectContaining({ transactionId }) as unknown),
  removed: [],
  isSnapshot: true,
});

test('every client learns once that the mempool cannot be read, and gets a snapshot when it can be read again', async () => {
  const { events, node, join } = follow();
  const { sent: first } = join();
  events.wake();
  await vi.advanceTimersByTimeAsync(3000);
  const { sent: second } = join();
  await vi.advanceTimersByTimeAsync(2000);
  await expect.poll(() => [first, second]).toEqual([[{ available: false }], [{ available: false }]]);

  node.sample = sampleOf();
  await vi.advanceTimersByTimeAsync(2000);
  await expect
    .poll(() => [first, second])
    .toEqual([
      [{ available: false }, snapshotOf()],
      [{ available: false }, snapshotOf()],
    ]);
});

test('a client that subscribes again after other clients have received changes gets a snapshot', async () => {
  const { events, node, join } = follow();
  node.sample = sampleOf(FIRST);
  const other = join();
  const again = join();
  events.wake();
  await vi.advanceTimersByTimeAsync(1000);
  await expect.poll(() => again.sent).toEqual([snapshotOf(FIRST)]);
  again.events.delete('mempool');
  node.sample = sampleOf(SECOND);
  await vi.advanceTimersByTimeAsync(2000);
  await expect.poll(() => other.sent).toHaveLength(2);
  again.events.add('mempool');
  await vi.advanceTimersByTimeAsync(2000);
  await expect.poll(() => again.sent).toEqual([snapshotOf(FIRST), snapshotOf(SECOND)]);
});

test('a client that unsubscribes and subscribes again between two samples gets a snapshot', async () => {
  const { events, node, join } = follow();
  node.sample = sampleOf(FIRST);
  const { sent, subscriber } = join();
  events.wake();
  await vi.advanceTimersByTimeAsync(1000);
  await expect.poll(() => sent).toEqual([snapshotOf(FIRST)]);
  events.forget(subscriber);
  await vi.advanceTimersByTimeAsync(2000);
  await expect.poll(() => sent).toEqual([snapshotOf(FIRST), snapshotOf(FIRST)]);
});

test('a client that unsubscribes during a sample gets nothing, and a snapshot once it subscribes again', async () => {
  const { events, node, join } = follow();
  const { promise, resolve } = Promise.withResolvers<MempoolSample>();
  node.sample = promise;
  const again = join();
  events.wake();
  await vi.advanceTimersByTimeAsync(1000);
  again.events.delete('mempool');
  events.forget(again.subscriber);
  resolve(sampleOf(FIRST));
  await vi.advanceTimersByTimeAsync(500);
  expect(again.sent).toEqual([]);
  again.events.add('mempool');
  await vi.advanceTimersByTimeAsync(2000);
  await expect.poll(() => again.sent).toEqual([snapshotOf(FIRST)]);
});
