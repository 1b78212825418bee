import { PackedPairs } from '@kasgres/node';
import { expect, test } from 'vitest';
import { EventLoopTurns } from '../fairness/event-loop-turns.ts';
import type { IndexReader } from '../index-state/state.ts';
import type { MempoolSample } from '../mempool-samples.ts';
import type { Message } from './messages.ts';
import { PendingMoves } from './pending-moves.ts';
import type { Subscriber } from './subscriber.ts';

const ID = 'ab'.repeat(32);
const [ONE, TWO] = ['kaspasim:one', 'kaspasim:two'];

function subscriberOf(...addresses: readonly string[]) {
  const sent: unknown[] = [];
  const subscription = { addresses: new Set(addresses) };
  const send = (messages: readonly Message[]) =>
    void sent.push(...messages.map(({ data }) => JSON.parse(data) as unknown));
  return { sent, subscriber: { subscription, revision: 1, send } as unknown as Subscriber };
}

test('a later subscriber learns the same amounts of an address that others watch', async () => {
  const index = { readIfAny: async () => [] } as unknown as IndexReader;
  const moves = new PendingMoves({ index, turns: new EventLoopTurns() });
  const paid = PackedPairs.of([
    [ONE, 5n],
    [ONE, 6n],
    [TWO, 7n],
  ]);
  const transaction = { id: ID, seenAt: 1, fee: 2n, mass: 3n, outputSum: 18n, paid, spent: PackedPairs.of([]) };
  const sample: MempoolSample = { timestamp: 0, transactions: new Map([[ID, transaction]]) };
  const [first, later] = [subscriberOf(ONE), subscriberOf(ONE, TWO)];
  const pending = (address: string, amountReceived: string) =>
    expect.objectContaining({
      transactionId: ID,
      status: 'pending',
      address,
      amountReceived,
      amountSent: '0',
    }) as unknown;

  await moves.send([first.subscriber], sample);
  expect(first.sent).toEqual([pending(ONE, '11')]);
  await moves.send([first.subscriber, later.subscriber], sample);
  expect(later.sent).toEqual([pending(ONE, '11'), pending(TWO, '7')]);
  expect(first.sent).toHaveLength(1);
});
