import { expect, test } from 'vitest';
import type { CovenantChange } from './covenant-changes.ts';
import {
  encoder,
  type Message,
  messagesOf,
  NO_SUBSCRIPTION,
  requestFor,
  serves,
  type Subscription,
} from './messages.ts';
import type { AddressChange } from './address-changes.ts';
import type { Step } from './read-step.ts';

const change = (address: string, transactionId: string): AddressChange => ({
  address,
  transactionId,
  isCoinbase: false,
  amountSent: '1',
  amountReceived: '3',
  acceptingBlockHash: 'b1',
  acceptingBlockBlueScore: '10',
  balance: '7',
});

const makeStep = (): Step => ({
  from: 'a',
  to: 'b',
  blueScore: 15n,
  isCaughtUp: true,
  hasBalances: true,
  removed: [],
  added: [],
  changes: {
    reverted: [change('one', 't1'), change('two', 't2')],
    accepted: [change('two', 't3'), change('one', 't4'), change('two', 't5')],
    confirmed: new Map([[5, [change('two', 't6')]]]),
  },
  covenants: undefined,
});

const subscription = (given: Partial<Subscription>): Subscription => ({
  ...NO_SUBSCRIPTION,
  events: new Set(['chain', 'address']),
  ...given,
});

const seen = (messages: readonly Message[]) =>
  messages.map(({ event, data, id }) => {
    const { status, transactionId } = JSON.parse(data) as Record<string, string | undefined>;
    return [event, status, transactionId, id];
  });

test('reverted precede accepted in the order of acceptance, then confirmed and the chain, which alone has an id', () => {
  const both = subscription({ addresses: new Set(['two', 'one']), confirmations: 5 });
  expect(seen(messagesOf(makeStep(), both))).toEqual([
    ['address', 'reverted', 't1', undefined],
    ['address', 'reverted', 't2', undefined],
    ['address', 'accepted', 't3', undefined],
    ['address', 'accepted', 't4', undefined],
    ['address', 'accepted', 't5', undefined],
    ['address', 'confirmed', 't6', undefined],
    ['chain', undefined, undefined, 'b'],
  ]);
});

test('without the chain, the id is that of the last message, although others get the same one without', () => {
  const step = makeStep();
  const events = new Set(['address'] as const);
  const one = subscription({ events, addresses: new Set(['one']) });
  const two = subscription({ events, addresses: new Set(['one', 'two']) });
  const expected = [
    ['address', 'reverted', 't1', undefined],
    ['address', 'accepted', 't4', 'b'],
  ];
  expect(seen(messagesOf(step, one))).toEqual(expected);
  expect(seen(messagesOf(step, two)).map(([, , transaction, id]) => [transaction, id])).toEqual([
    ['t1', undefined],
    ['t2', undefined],
    ['t3', undefined],
    ['t4', undefined],
    ['t5', 'b'],
  ]);
  expect(seen(messagesOf(step, one))).toEqual(expected);
  expect(messagesOf(step, subscription({ events, addresses: new Set(['three']) }))).toEqual([]);
});

test('a balance is null unless the step has balances', () => {
  const step = { ...makeStep(), hasBalances: false };
  const balances = messagesOf(
    step,
    subscription({ events: new Set(['address']), addresses: new Set(['one', 'two']) }),
  ).map(({ data }) => (JSON.parse(data) as { balance: string | null }).balance);
  expect(new Set(balances)).toEqual(new Set([null]));
});

test('messages for several clients are encoded once', () => {
  const step = makeStep();
  let encodings = 0;
  const encode = encoder(({ data }) => {
    encodings += 1;
    return data;
  });
  const client = () => messagesOf(step, subscription({ addresses: new Set(['one']) })).map(encode);
  const [first, second] = [client(), client()];
  expect(second.every((bytes, index) => bytes === first[index])).toBe(true);
  expect(encodings).toBe(3);
});

const covenantChange = (covenantId: string, transactionId: string, template: string | null): CovenantChange => ({
  covenantId,
  transactionId,
  kind: 'transition',
  template,
  acceptingBlockHash: 'b1',
  acceptingBlockBlueScore: '10',
});

const withCovenants = (): Step => ({
  ...makeStep(),
  covenants: {
    reverted: [covenantChange('c1', 't1', 'T')],
    accepted: [covenantChange('c2', 't2', null), covenantChange('c1', 't2', 'T'), covenantChange('c3', 't3', 'T')],
    confirmed: new Map([[5, [covenantChange('c3', 't4', 'other')]]]),
  },
});

test('events of covenants follow those of addresses, by id or by template', () => {
  const given = { events: new Set(['address', 'covenant'] as const), confirmations: 5 };
  const ofIds = subscription({ ...given, addresses: new Set(['one']), covenants: new Set(['c1', 'c2']) });
  expect(seen(messagesOf(withCovenants(), ofIds))).toEqual([
    ['address', 'reverted', 't1', undefined],
    ['address', 'accepted', 't4', undefined],
    ['covenant', 'reverted', 't1', undefined],
    ['covenant', 'accepted', 't2', undefined],
    ['covenant', 'accepted', 't2', 'b'],
  ]);
  const step = withCovenants();
  const ofTemplate = subscription({ ...given, template: 'T' });
  const found = messagesOf(step, ofTemplate).map(({ data }) => (JSON.parse(data) as CovenantChange).covenantId);
  expect(found).toEqual(['c1', 'c1', 'c3']);
  expect(messagesOf(step, subscription({ ...given, covenants: new Set(['c3']) })).map(({ id }) => id)).toEqual([
    undefined,
    'b',
  ]);
  expect(messagesOf(step, subscription({ ...given, template: 'unknown' }))).toEqual([]);
});

test('a step that was read without covenants, or without their number of confirmations, does not serve those who watch some', () => {
  const watching = subscription({ events: new Set(['covenant']), covenants: new Set(['c1']), confirmations: 5 });
  expect(serves(withCovenants(), watching)).toBe(true);
  expect(serves(makeStep(), watching)).toBe(false);
  expect(serves(withCovenants(), { ...watching, confirmations: 6 })).toBe(false);
  expect(serves(makeStep(), { ...watching, events: new Set(['chain']) })).toBe(true);
});

test('one read has what all subscribers watch', () => {
  const covenants = subscription({ events: new Set(['covenant']), covenants: new Set(['c1', 'c2']), confirmations: 7 });
  const template = subscription({ events: new Set(['covenant']), template: 'T' });
  const chain = subscription({ covenants: new Set(['c9']), confirmations: 9 });
  expect(requestFor([covenants, template, chain])).toEqual({
    withIds: false,
    addresses: undefined,
    covenants: { ids: ['c1', 'c2'], templates: ['T'] },
    confirmations: new Set([7]),
  });
});

test.each(['one', 'others'])(
  'an address may have more changes in a block than a function has arguments, with %s watched',
  (watched) => {
    const step = makeStep();
    const accepted = Array.from({ length: 200_000 }, () => change('one', 't'));
    const addresses = new Set(watched === 'one' ? ['one'] : ['one', 'two', 'three']);
    const messages = messagesOf(
      { ...step, changes: { reverted: [], accepted: [...accepted, change('two', 't')], confirmed: new Map() } },
      subscription({ events: new Set(['address']), addresses }),
    );
    expect(messages).toHaveLength(accepted.length + (watched === 'one' ? 0 : 1));
  },
);
