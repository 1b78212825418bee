import { setImmediate as turn } from 'node:timers/promises';
import { type Message } from '@kasgres/chain-steps';
import { EventLoopTurns } from '@kasgres/reads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FanOut } from './fan-out.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const block = (data: string): Message => ({ event: 'block', data });

/**
 * Subscribers that take a millisecond each. `served` lists them in the order of their turns, with
 * the data that they got.
 */
function startFanOut(count: number) {
  const fanOut = new FanOut(new EventLoopTurns());
  const served: string[] = [];
  const failed: unknown[] = [];
  const subscribers = Array.from({ length: count }, (_, index) => ({
    caller: 'client',
    isAnonymous: true,
    onRead: (blocks: readonly Message[]) => {
      served.push(`${index}: ${blocks.map(({ data }) => data).join()}`);
      vi.advanceTimersByTime(1);
    },
    fail: (error: unknown) => void failed.push(error),
  }));
  for (const subscriber of subscribers) fanOut.add(subscriber);
  const untilServed = async (turns: number) => {
    while (served.length < turns) await turn();
  };
  return { fanOut, subscribers, served, failed, untilServed };
}

const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('it serves others while it passes on a read to many subscribers', async () => {
  const { fanOut, served, untilServed } = startFanOut(40);
  await fanOut.pass([block('a')]);
  await turn();
  expect(served.length).toBeLessThan(20);
  await untilServed(40);
  expect(served).toEqual(numbersTo(40).map((index) => `${index}: a`));
});

test('what is read during a round goes to the rest at once, and to those before in the next round', async () => {
  const { fanOut, served, untilServed } = startFanOut(40);
  await fanOut.pass([block('a')]);
  const first = served.length;
  await fanOut.pass([block('b')]);
  await untilServed(40 + first);
  await turn();
  expect(served).toEqual([
    ...numbersTo(first).map((index) => `${index}: a`),
    ...numbersTo(40)
      .slice(first)
      .map((index) => `${index}: a,b`),
    ...numbersTo(first).map((index) => `${index}: b`),
  ]);
});

test('a subscriber receives what is read after it was added, until it is removed', async () => {
  const { fanOut, subscribers, served, untilServed } = startFanOut(40);
  const [, second] = subscribers;
  if (second === undefined) throw new Error('no subscriber');
  fanOut.remove(second);
  await fanOut.pass([block('a')]);
  fanOut.add(second);
  await untilServed(39);
  await fanOut.pass([block('b')]);
  await untilServed(79);
  await turn();
  expect(served.filter((text) => text.startsWith('1:'))).toEqual(['1: b']);
  expect(served).toHaveLength(79);
});

test('the reader waits while many reads have not reached everybody', async () => {
  const { fanOut, served } = startFanOut(40);
  for (let read = 0; read < 31; read += 1) await fanOut.pass([]);
  expect(served.length).toBeLessThan(40);
  await fanOut.pass([]);
  expect(served.length).toBeGreaterThanOrEqual(40);
});

test('the first streams of a key do not wait for those of others, nor for its own others', async () => {
  const { fanOut, served, failed } = startFanOut(1_000);
  const ofKeys: string[] = [];
  for (const [caller, count] of [
    ['key:1', 3],
    ['key:2', 20],
  ] as const) {
    for (let index = 0; index < count; index += 1) {
      fanOut.add({
        caller,
        isAnonymous: false,
        onRead: () => void ofKeys.push(caller),
        fail: (error) => void failed.push(error),
      });
    }
  }
  await fanOut.pass([block('a')]);
  for (let count = 0; count < 4; count += 1) await turn();
  expect(served.length).toBeLessThan(100);
  expect(ofKeys.filter((caller) => caller === 'key:1')).toHaveLength(3);
  expect(ofKeys.filter((caller) => caller === 'key:2')).toHaveLength(8);
  while (ofKeys.length < 23) await turn();
  expect(failed).toEqual([]);
});

test('a key keeps its number of first streams when one of them ends', async () => {
  const { fanOut, failed } = startFanOut(500);
  const received: number[] = [];
  const streams = Array.from({ length: 9 }, (_, index) => ({
    caller: 'key',
    isAnonymous: false,
    onRead: () => void received.push(index),
    fail: (error: unknown) => void failed.push(error),
  }));
  for (const stream of streams) fanOut.add(stream);
  const [first, ...others] = streams;
  if (first === undefined) throw new Error('no stream');
  fanOut.remove(first);
  fanOut.add(first);
  await fanOut.pass([]);
  for (let count = 0; count < 4; count += 1) await turn();
  expect(received.toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  for (const stream of [first, ...others]) fanOut.remove(stream);
  expect(failed).toEqual([]);
});

test('an error ends one stream, and no other', async () => {
  const { fanOut, subscribers, served, failed, untilServed } = startFanOut(3);
  const [first] = subscribers;
  const error = new Error('an error');
  if (first !== undefined)
    first.onRead = () => {
      throw error;
    };
  await fanOut.pass([block('a')]);
  await untilServed(2);
  expect(served).toEqual(['1: a', '2: a']);
  expect(failed).toEqual([error]);
});
