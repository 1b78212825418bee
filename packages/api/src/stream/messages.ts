/** The messages of a stream, and the subscription that selects them. */
import type { AddressChange, Step, StepRequest } from './read-step.ts';

export const EVENTS = ['chain', 'block', 'address', 'mempool'] as const;
export type EventName = (typeof EVENTS)[number];

/** One message. `id` is the chain block that the stream has reached with it. */
export interface Message {
  event: EventName | 'heartbeat' | 'error' | 'subscribed';
  /** JSON. */
  data: string;
  id?: string;
}

/** Returns a function that encodes each message once, although it goes to many clients. */
export function encoder(textOf: (message: Message) => string): (message: Message) => Buffer {
  const encoded = new WeakMap<Message, Buffer>();
  return (message) => {
    const known = encoded.get(message);
    if (known !== undefined) return known;
    const bytes = Buffer.from(textOf(message));
    encoded.set(message, bytes);
    return bytes;
  };
}

export interface Subscription {
  events: Set<EventName>;
  addresses: Set<string>;
  /** Undefined without `confirmed` messages. */
  confirmations: number | undefined;
  withIds: boolean;
}

type Status = 'accepted' | 'reverted' | 'confirmed';

/**
 * Returns the messages of a step in their order. Only the last one has an id; without any, the step changes nothing for the subscriber. Thousands of
 * subscribers get the same objects, so that each is encoded once.
 */
export function messagesOf(step: Step, subscription: Subscription): readonly Message[] {
  const changes = changesFor(step, subscription);
  const hasChain = subscription.events.has('chain');
  const messages = changes.map(({ status, change }, index) =>
    addressMessage(step, status, change, !hasChain && index === changes.length - 1),
  );
  if (hasChain) messages.push(chainMessage(step, subscription.withIds));
  return messages;
}

const chainMessages = new WeakMap<Step, { plain?: Message; withIds?: Message }>();

function chainMessage(step: Step, withIds: boolean): Message {
  let messages = chainMessages.get(step);
  if (messages === undefined) chainMessages.set(step, (messages = {}));
  const name = withIds ? 'withIds' : 'plain';
  messages[name] ??= {
    event: 'chain',
    data: JSON.stringify({
      removed: step.removed,
      added: withIds ? step.added : step.added.map(({ acceptedTransactionIds: _ids, ...block }) => block),
      isCaughtUp: step.isCaughtUp,
    }),
    id: step.to,
  };
  return messages[name];
}

interface StatusChange {
  status: Status;
  change: AddressChange;
}

function changesFor({ changes }: Step, { events, addresses, confirmations }: Subscription): readonly StatusChange[] {
  if (changes === undefined || addresses.size === 0 || !events.has('address')) return [];
  const of = (status: Status, listed: readonly AddressChange[]): StatusChange[] =>
    changesOf(listed, addresses).map((change) => ({ status, change }));
  return [
    ...of('reverted', changes.reverted),
    ...of('accepted', changes.accepted),
    ...(confirmations === undefined ? [] : of('confirmed', changes.confirmed.get(confirmations) ?? [])),
  ];
}

/** A change belongs to one status of one step. */
const addressMessages = new WeakMap<AddressChange, { inner?: Message; last?: Message }>();

function addressMessage(step: Step, status: Status, change: AddressChange, isLast: boolean): Message {
  let messages = addressMessages.get(change);
  if (messages === undefined) addressMessages.set(change, (messages = {}));
  const name = isLast ? 'last' : 'inner';
  messages[name] ??= {
    event: 'address',
    data: addressJson(step, status, change),
    ...(isLast && { id: step.to }),
  };
  return messages[name];
}

interface Placed {
  change: AddressChange;
  place: number;
}

const byAddress = new WeakMap<readonly AddressChange[], Map<string, Placed[]>>();

/** Returns the changes of some addresses in their order. Thousands of subscribers share the index of the changes. */
function changesOf(listed: readonly AddressChange[], addresses: ReadonlySet<string>): AddressChange[] {
  let index = byAddress.get(listed);
  if (index === undefined) {
    index = Map.groupBy(
      listed.map((change, place) => ({ change, place })),
      ({ change }) => change.address,
    );
    byAddress.set(listed, index);
  }
  const found: Placed[] = [];
  if (addresses.size < index.size) for (const address of addresses) found.push(...(index.get(address) ?? []));
  else for (const [address, placed] of index) if (addresses.has(address)) found.push(...placed);
  return found.sort((one, other) => one.place - other.place).map(({ change }) => change);
}

function addressJson(step: Step, status: Status, change: AddressChange): string {
  const { amountSent, amountReceived, acceptingBlockBlueScore } = change;
  return JSON.stringify({
    address: change.address,
    transactionId: change.transactionId,
    status,
    isCoinbase: change.isCoinbase,
    amountSent: String(amountSent),
    amountReceived: String(amountReceived),
    balanceChange: String(amountReceived - amountSent),
    acceptingBlockHash: change.acceptingBlockHash,
    acceptingBlockBlueScore: String(acceptingBlockBlueScore),
    confirmations: status === 'reverted' ? 0 : Number(step.blueScore - acceptingBlockBlueScore),
    balance: step.hasBalances ? change.balance : null,
  });
}

/** Returns the kinds of events that are sent: addresses would do nothing without theirs. */
export const eventsOf = <Name extends EventName>(
  events: readonly Name[],
  addresses: readonly string[],
): Set<Name | 'address'> => new Set(addresses.length > 0 ? [...events, 'address'] : events);

/** Returns what a step must be read with for all of these subscribers. */
export function requestFor(subscriptions: readonly Subscription[]): StepRequest {
  const request = requestForAll(subscriptions);
  if (request.addresses === undefined) return request;
  const ofAddresses = subscriptions.filter(({ events }) => events.has('address'));
  return { ...request, addresses: [...new Set(ofAddresses.flatMap(({ addresses }) => [...addresses]))] };
}

/** The same with all addresses: a list of those of thousands of subscribers would take longer than reading what happened to all. */
export function requestForAll(subscriptions: Iterable<Subscription>): StepRequest {
  let withIds = false;
  let ofAddresses = false;
  const numbers = new Set<number>();
  for (const { events, addresses, confirmations, withIds: wantsIds } of subscriptions) {
    withIds ||= wantsIds;
    if (!events.has('address') || addresses.size === 0) continue;
    ofAddresses = true;
    if (confirmations !== undefined) numbers.add(confirmations);
  }
  return { withIds, addresses: ofAddresses ? 'all' : undefined, confirmations: numbers };
}

/** Returns whether a step was read with everything that a subscriber needs. */
export function serves({ changes, added }: Step, { events, addresses, confirmations, withIds }: Subscription): boolean {
  if (withIds && events.has('chain') && added.some(({ acceptedTransactionIds: ids }) => ids === undefined))
    return false;
  if (!events.has('address') || addresses.size === 0) return true;
  return changes !== undefined && (confirmations === undefined || changes.confirmed.has(confirmations));
}
