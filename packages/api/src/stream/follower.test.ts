import { type EventName, NO_SUBSCRIPTION } from '@kasgres/chain-steps';
import { expect, test } from 'vitest';
import { sharedConfirmations } from './follower.ts';

const subscriber = (caller: string, confirmations: number, events: EventName[] = ['address']) => ({
  caller,
  subscription: { ...NO_SUBSCRIPTION, events: new Set(events), addresses: new Set(['kaspa:one']), confirmations },
});

test('the shared read has four numbers of confirmations, however many one caller asks for', () => {
  const hostile = Array.from({ length: 1000 }, (_, index) => subscriber('hostile', index + 1));
  const others = ['one', 'two'].map((caller) => subscriber(caller, 5000));
  const numbers = sharedConfirmations([...hostile, ...others]);
  expect(numbers).toHaveLength(4);
  expect(numbers[0]).toBe(5000);
});

test('a caller with one number has its number before those of a caller with many', () => {
  const hostile = Array.from({ length: 1000 }, (_, index) => subscriber('hostile', index + 1));
  expect(sharedConfirmations([...hostile, subscriber('one', 5000)])[0]).toBe(5000);
});

test('streams without events of addresses need none', () => {
  expect(sharedConfirmations([subscriber('one', 10, ['chain'])])).toEqual([]);
});
