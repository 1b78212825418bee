import { type Message, NO_SUBSCRIPTION, type Subscription } from '@kasgres/chain-steps';
import { PackedPairs } from '@kasgres/node';
import { EventLoopTurns, type IndexReader } from '@kasgres/reads';
import { expect, test } from 'vitest';
import type { MempoolSample, PendingTransaction } from '../node/mempool-samples.ts';
import { PendingMoves } from './pending-moves.ts';
import type { Subscriber } from './subscriber.ts';

const ID = 'ab'.repeat(32);
const [ONE, TWO] = ['kaspasim:one', 'kaspasim:two'];

function subscriberOf(given: Partial<Subscription>) {
  const sent: unknown[] = [];
  const subscription = { ...NO_SUBSCRIPTION, events: new Set(['address', 'covenant']), ...given };
  const send = (messages: readonly Message[]) =>
    void sent.push(...messages.map(({ data }) => JSON.parse(data) as unknown));
  return { sent, subscriber: { subscription, revision: 1, send } as unknown as Subscriber };
}

const TRANSACTION = {
  id: ID,
  seenAt: 1,
  fee: 2n,
  mass: 3n,
  outputSum: 18n,
  paid: PackedPairs.none,
  spent: PackedPairs.none,
  bound: PackedPairs.none,
};

const sampleOf = (...transactions: PendingTransaction[]): MempoolSample => ({
  timestamp: 0,
  transactions: new Map(transactions.map((transaction) => [transaction.id, transaction])),
});

/** @param reads the rows of each read, in turn; then none */
function follow(...reads: (unknown[] | (() => unknown[]))[]) {
  const readIfAny = async () => {
    const rows = reads.shift() ?? [];
    return typeof rows === 'function' ? rows() : rows;
  };
  const index = { readIfAny } as unknown as IndexReader;
  return new PendingMoves({ index, turns: new EventLoopTurns() });
}

const pending = (address: string, amountReceived: string) =>
  expect.objectContaining({
    transactionId: ID,
    status: 'pending',
    address,
    amountReceived,
    amountSent: '0',
  }) as unknown;

test('a later subscriber learns the same amounts of an address that others watch', async () => {
  const moves = follow();
  const paid = PackedPairs.of([
    [ONE, 5n],
    [ONE, 6n],
    [TWO, 7n],
  ]);
  const sample = sampleOf({ ...TRANSACTION, paid });
  const [first, later] = [
    subscriberOf({ addresses: new Set([ONE]) }),
    subscriberOf({ addresses: new Set([ONE, TWO]) }),
  ];

  await moves.send([first.subscriber], sample);
  expect(first.sent).toEqual([pending(ONE, '11')]);
  await moves.send([first.subscriber, later.subscriber], sample);
  expect(later.sent).toEqual([pending(ONE, '11'), pending(TWO, '7')]);
  expect(first.sent).toHaveLength(1);
});

test('a transaction that spends an output of a pending one sends its amount', async () => {
  const paid = PackedPairs.of([
    ['', 4n],
    [ONE, 5n],
  ]);
  const child = { ...TRANSACTION, id: 'cd'.repeat(32), paid: PackedPairs.of([[ONE, 2n]]) };
  const spent = PackedPairs.of([
    [ID, 0n],
    [ID, 1n],
    [ID, 2n],
  ]);
  const { sent, subscriber } = subscriberOf({ addresses: new Set([ONE]) });
  await follow().send([subscriber], sampleOf({ ...child, spent }, { ...TRANSACTION, paid }));
  expect(sent).toEqual([
    pending(ONE, '5'),
    expect.objectContaining({ transactionId: child.id, amountSent: '5', amountReceived: '2', balanceChange: '-3' }),
  ]);
});

test('a transaction that was accepted since the sample is not pending', async () => {
  const [unmerged, accepted] = [[], [ID]];
  const moves = follow(unmerged, accepted, unmerged, accepted, unmerged, []);
  const sample = sampleOf({ ...TRANSACTION, paid: PackedPairs.of([[ONE, 5n]]) });
  const watch = () => subscriberOf({ addresses: new Set([ONE]) });
  const [first, later, last] = [watch(), watch(), watch()];
  await moves.send([first.subscriber], sample);
  await moves.send([first.subscriber, later.subscriber], sample);
  expect([first.sent, later.sent]).toEqual([[], []]);
  // The acceptance was undone.
  await moves.send([last.subscriber], sample);
  expect(last.sent).toEqual([pending(ONE, '5')]);
});

const withStatus = (status: string) => expect.objectContaining({ transactionId: ID, status }) as unknown;

test('a subscriber learns what is dropped, also if its subscription changes while that is read', async () => {
  const { sent, subscriber } = subscriberOf({ addresses: new Set([ONE]) });
  const change = () => {
    Object.assign(subscriber, { revision: 2 });
    return [ID];
  };
  const [unmerged, accepted] = [[], []];
  const moves = follow(unmerged, accepted, unmerged, unmerged, change);
  await moves.send([subscriber], sampleOf({ ...TRANSACTION, paid: PackedPairs.of([[ONE, 5n]]) }));
  await moves.send([subscriber], sampleOf());
  await moves.send([subscriber], sampleOf());
  expect(sent).toEqual([withStatus('pending'), withStatus('dropped')]);
});

test('a subscriber that watches an address again learns again what is pending, although others watched it', async () => {
  const moves = follow();
  const sample = sampleOf({ ...TRANSACTION, paid: PackedPairs.of([[ONE, 5n]]) });
  const addresses = new Set([ONE]);
  const [again, other] = [subscriberOf({ addresses }), subscriberOf({ addresses: new Set([ONE]) })];
  const send = (...watching: { subscriber: Subscriber }[]) =>
    moves.send(
      watching.map(({ subscriber }) => subscriber),
      sample,
    );
  await send(again, other);
  addresses.delete(ONE);
  Object.assign(again.subscriber, { revision: 2 });
  await send(again, other);
  addresses.add(ONE);
  Object.assign(again.subscriber, { revision: 3 });
  await send(again, other);
  expect([again.sent.length, other.sent.length]).toEqual([2, 1]);
  // While it watches nothing, it is not among them.
  await send(other);
  Object.assign(again.subscriber, { revision: 5 });
  await send(again, other);
  expect([again.sent.length, other.sent.length]).toEqual([3, 1]);
});

const [BORN, MOVED, ENDED, TEMPLATE] = ['b0', 'b1', 'b2', 'aa'].map((byte) => byte.repeat(32)) as [
  string,
  string,
  string,
  string,
];

const inAnyOrder = (messages: unknown[][]) => messages.map(String).toSorted();

test('pending and dropped covenant events have their kinds, also of UTXOs that are pending themselves', async () => {
  const childId = 'cd'.repeat(32);
  const spentRow = (covenantId: string) => ({ id: ID, address: null, amount: 1n, covenantId, isSent: true });
  const unmerged: unknown[] = [];
  const sent = [spentRow(MOVED), spentRow(ENDED)];
  const templates = [
    { id: MOVED, template: TEMPLATE },
    { id: ENDED, template: null },
    { id: BORN, template: null },
  ];
  const moves = follow(unmerged, sent, templates);
  const parent = {
    ...TRANSACTION,
    spent: PackedPairs.of([
      ['e0'.repeat(32), 0n],
      ['e1'.repeat(32), 0n],
    ]),
    bound: PackedPairs.of([
      [BORN, 0n],
      [MOVED, 2n],
    ]),
  };
  const child = { ...TRANSACTION, id: childId, spent: PackedPairs.of([[ID, 2n]]) };
  const listed = subscriberOf({ covenants: new Set([BORN, MOVED, ENDED]) });
  const ofTemplate = subscriberOf({ template: TEMPLATE });
  const seen = ({ sent: messages }: typeof listed) =>
    messages.splice(0).map((message) => {
      const { covenantId, transactionId, status, kind, template } = message as Record<string, unknown>;
      return [covenantId, transactionId, status, kind, template];
    });
  const send = (sample: MempoolSample) => moves.send([listed.subscriber, ofTemplate.subscriber], sample);

  await send(sampleOf(parent, child));
  const ofMoved = (status: string) => [
    [MOVED, ID, status, 'transition', TEMPLATE],
    [MOVED, childId, status, 'burn', TEMPLATE],
  ];
  const others = (status: string) => [
    [BORN, ID, status, 'genesis', null],
    [ENDED, ID, status, 'burn', null],
  ];
  expect(inAnyOrder(seen(listed))).toEqual(inAnyOrder([...ofMoved('pending'), ...others('pending')]));
  expect(inAnyOrder(seen(ofTemplate))).toEqual(inAnyOrder(ofMoved('pending')));
  await send(sampleOf());
  expect([seen(listed), seen(ofTemplate)]).toEqual([[], []]);
  const gone = [ID, childId];
  const dropping = follow(unmerged, sent, templates, [], [], [], gone);
  await dropping.send([listed.subscriber], sampleOf(parent, child));
  seen(listed);
  await dropping.send([listed.subscriber], sampleOf());
  await dropping.send([listed.subscriber], sampleOf());
  expect(inAnyOrder(seen(listed))).toEqual(inAnyOrder([...ofMoved('dropped'), ...others('dropped')]));
});
