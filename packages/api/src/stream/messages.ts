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

export interface Subscription {
  events: Set<EventName>;
  addresses: Set<string>;
  /** Undefined without `confirmed` messages. */
  confirmations: number | undefined;
  withIds: boolean;
}

type Status = 'accepted' | 'reverted' | 'confirmed';

/** Returns the messages of a step in their order. Only the last one has an id; without any, the step changes nothing for the subscriber. */
export function messagesOf(step: Step, subscription: Subscription): readonly Message[] {
  const messages = addressMessages(step, subscription);
  if (subscription.events.has('chain')) return [...messages, chainMessage(step, subscription.withIds)];
  const last = messages.at(-1);
  if (last !== undefined) last.id = step.to;
  return messages;
}

const chainMessages = new WeakMap<Step, { plain?: Message; withIds?: Message }>();

/** Is the same object for all subscribers, so that it is encoded once. */
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

function addressMessages(step: Step, { events, addresses, confirmations }: Subscription): Message[] {
  const { changes } = step;
  if (changes === undefined || addresses.size === 0 || !events.has('address')) return [];
  const of = (status: Status, listed: readonly AddressChange[]): Message[] =>
    changesOf(listed, addresses).map((change) => ({ event: 'address', data: addressJson(step, status, change) }));
  return [
    ...of('reverted', changes.reverted),
    ...of('accepted', changes.accepted),
    ...(confirmations === undefined ? [] : of('confirmed', changes.confirmed.get(confirmations) ?? [])),
  ];
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
    balance: step.isCaughtUp ? change.balance : null,
  });
}

/** Returns the kinds of events that are sent: addresses would do nothing without theirs. */
export const eventsOf = <Name extends EventName>(
  events: readonly Name[],
  addresses: readonly string[],
): Set<Name | 'address'> => new Set(addresses.length > 0 ? [...events, 'address'] : events);

/** Returns what a step must be read with for all of these subscribers. */
export function requestFor(subscriptions: readonly Subscription[]): StepRequest {
  const ofAddresses = subscriptions.filter(({ events, addresses }) => events.has('address') && addresses.size > 0);
  return {
    withIds: subscriptions.some(({ withIds }) => withIds),
    addresses:
      ofAddresses.length === 0 ? undefined : [...new Set(ofAddresses.flatMap(({ addresses }) => [...addresses]))],
    confirmations: new Set(ofAddresses.flatMap(({ confirmations }) => confirmations ?? [])),
  };
}

/** Returns whether a step was read with everything that a subscriber needs. */
export function serves({ changes, added }: Step, { events, addresses, confirmations, withIds }: Subscription): boolean {
  if (withIds && events.has('chain') && added.some(({ acceptedTransactionIds: ids }) => ids === undefined))
    return false;
  if (!events.has('address') || addresses.size === 0) return true;
  return changes !== undefined && (confirmations === undefined || changes.confirmed.has(confirmations));
}
