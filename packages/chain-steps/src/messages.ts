/** The messages of a stream, and the subscription that selects them. */
import type { AddressChange } from './address-changes.ts';
import type { Change, StepChanges } from './changes.ts';
import type { CovenantChange, CovenantFilter } from './covenant-changes.ts';
import type { AddressChangeJson, CovenantChangeJson, WebSocketMessageJson } from './event-schemas.ts';
import type { Step, StepRequest } from './read-step.ts';

export const EVENTS = ['chain', 'block', 'address', 'covenant', 'mempool'] as const;
export type EventName = (typeof EVENTS)[number];

/** One message. `id` is the chain block that the stream has reached with it. */
export interface Message {
  event: WebSocketMessageJson['event'];
  /** JSON. */
  data: string;
  id?: string;
}

type DataOf<Event extends Message['event']> = Extract<WebSocketMessageJson, { event: Event }>['data'];

export const toMessage = <Event extends Message['event']>(event: Event, data: DataOf<Event>, id?: string): Message => ({
  event,
  data: JSON.stringify(data),
  ...(id !== undefined && { id }),
});

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
  /** Ids of covenants; empty with a template. */
  covenants: Set<string>;
  /** The template of the covenants; undefined without one. */
  template: string | undefined;
  /** Undefined without `confirmed` messages. */
  confirmations: number | undefined;
  withIds: boolean;
}

export const NO_SUBSCRIPTION: Readonly<Subscription> = {
  events: new Set(),
  addresses: new Set(),
  covenants: new Set(),
  template: undefined,
  confirmations: undefined,
  withIds: false,
};

export const watchesAddresses = ({ events, addresses }: Subscription): boolean =>
  events.has('address') && addresses.size > 0;

export const watchesCovenants = ({ events, covenants, template }: Subscription): boolean =>
  events.has('covenant') && (covenants.size > 0 || template !== undefined);

/** Whether a subscription takes more of a step than the chain itself. */
export const watchesChanges = (subscription: Subscription): boolean =>
  watchesAddresses(subscription) || watchesCovenants(subscription);

/** Returns what a subscription takes of the addresses and covenants that this process holds. */
export const countWatched = ({ addresses, covenants, template }: Subscription): number =>
  addresses.size + covenants.size + (template === undefined ? 0 : 1);

type Status = AddressChangeJson['status'];

/**
 * Returns the messages of a step in their order. Only the last one has an id; without any, the step
 * changes nothing for the subscriber. Thousands of subscribers get the same objects, so that each
 * is encoded once.
 */
export function messagesOf(step: Step, subscription: Subscription): readonly Message[] {
  const changes = changesFor(step, subscription);
  const hasChain = subscription.events.has('chain');
  const messages = changes.map((change, index) =>
    changeMessage(step, change, !hasChain && index === changes.length - 1),
  );
  if (hasChain) messages.push(chainMessage(step, subscription.withIds));
  return messages;
}

const chainMessages = new WeakMap<Step, { plain?: Message; withIds?: Message }>();

function chainMessage(step: Step, withIds: boolean): Message {
  let messages = chainMessages.get(step);
  if (messages === undefined) chainMessages.set(step, (messages = {}));
  const name = withIds ? 'withIds' : 'plain';
  messages[name] ??= toMessage(
    'chain',
    {
      removed: step.removed,
      added: withIds ? step.added : step.added.map(({ acceptedTransactionIds: _ids, ...block }) => block),
      isCaughtUp: step.isCaughtUp,
    },
    step.to,
  );
  return messages[name];
}

type StatusChange = { status: Status } & (
  | { event: 'address'; change: AddressChange }
  | { event: 'covenant'; change: CovenantChange }
);

function changesFor({ changes, covenants }: Step, subscription: Subscription): readonly StatusChange[] {
  const { confirmations } = subscription;
  const found: StatusChange[] = [];
  if (changes !== undefined && watchesAddresses(subscription)) {
    for (const [status, listed] of listsOf(changes, confirmations)) {
      const own = findChanges(listed, addressOf, subscription.addresses);
      for (const change of own) found.push({ status, event: 'address', change });
    }
  }
  if (covenants !== undefined && watchesCovenants(subscription)) {
    const { covenants: ids, template } = subscription;
    for (const [status, listed] of listsOf(covenants, confirmations)) {
      const own =
        template === undefined
          ? findChanges(listed, covenantOf, ids)
          : findChanges(listed, templateOf, new Set([template]));
      for (const change of own) found.push({ status, event: 'covenant', change });
    }
  }
  return found;
}

function listsOf<Kind extends Change>(
  { reverted, accepted, confirmed }: StepChanges<Kind>,
  confirmations: number | undefined,
): [Status, readonly Kind[]][] {
  return [
    ['reverted', reverted],
    ['accepted', accepted],
    ['confirmed', confirmations === undefined ? [] : (confirmed.get(confirmations) ?? [])],
  ];
}

/** A change belongs to one status of one step. */
const changeMessages = new WeakMap<Change, { inner?: Message; last?: Message }>();

function changeMessage(step: Step, { event, status, change }: StatusChange, isLast: boolean): Message {
  let messages = changeMessages.get(change);
  if (messages === undefined) changeMessages.set(change, (messages = {}));
  const name = isLast ? 'last' : 'inner';
  const id = isLast ? step.to : undefined;
  messages[name] ??=
    event === 'address'
      ? toMessage(event, addressData(step, status, change), id)
      : toMessage(event, covenantData(step, status, change), id);
  return messages[name];
}

interface Positioned<Kind extends Change> {
  change: Kind;
  position: number;
}

type NameOf<Kind> = (change: Kind) => string | null;

const addressOf = ({ address }: AddressChange): string => address;
const covenantOf = ({ covenantId }: CovenantChange): string => covenantId;
const templateOf = ({ template }: CovenantChange): string | null => template;

/** By what names a change, by the list of changes. */
const indexes = new WeakMap<
  object,
  WeakMap<readonly Change[], ReadonlyMap<string | null, readonly Positioned<Change>[]>>
>();

function indexOf<Kind extends Change>(
  listed: readonly Kind[],
  nameOf: NameOf<Kind>,
): ReadonlyMap<string | null, readonly Positioned<Kind>[]> {
  let ofName = indexes.get(nameOf);
  if (ofName === undefined) indexes.set(nameOf, (ofName = new WeakMap()));
  const known = ofName.get(listed) as ReadonlyMap<string | null, readonly Positioned<Kind>[]> | undefined;
  if (known !== undefined) return known;
  const index = Map.groupBy(
    listed.map((change, position) => ({ change, position })),
    ({ change }) => nameOf(change),
  );
  ofName.set(listed, index);
  return index;
}

/**
 * Returns the changes of some addresses or covenants in their order. Thousands of subscribers share
 * the index of the changes.
 */
function findChanges<Kind extends Change>(
  listed: readonly Kind[],
  nameOf: NameOf<Kind>,
  names: ReadonlySet<string>,
): Kind[] {
  if (listed.length === 0 || names.size === 0) return [];
  const index = indexOf(listed, nameOf);
  const found: Positioned<Kind>[] = [];
  // A block may have more changes of an address than a spread may have arguments.
  const add = (positioned: readonly Positioned<Kind>[] = []): void => {
    for (const change of positioned) found.push(change);
  };
  if (names.size < index.size) for (const name of names) add(index.get(name));
  else for (const [name, positioned] of index) if (name !== null && names.has(name)) add(positioned);
  return found.sort((one, other) => one.position - other.position).map(({ change }) => change);
}

function addressData(step: Step, status: Status, change: AddressChange): AddressChangeJson {
  const { address, transactionId, isCoinbase, amountSent, amountReceived, balance } = change;
  return {
    address,
    transactionId,
    status,
    isCoinbase,
    amountSent,
    amountReceived,
    balanceChange: String(BigInt(amountReceived) - BigInt(amountSent)),
    ...acceptanceOf(step, status, change),
    balance: step.hasBalances ? balance : null,
  };
}

function covenantData(step: Step, status: Status, change: CovenantChange): CovenantChangeJson {
  const { covenantId, transactionId, kind, template } = change;
  return { covenantId, transactionId, status, kind, template, ...acceptanceOf(step, status, change) };
}

const acceptanceOf = (step: Step, status: Status, { acceptingBlockHash, acceptingBlockBlueScore }: Change) => ({
  acceptingBlockHash,
  acceptingBlockBlueScore,
  confirmations: status === 'reverted' ? 0 : Number(step.blueScore - BigInt(acceptingBlockBlueScore)),
});

/** The names in a subscription, besides kinds of events. */
interface Named {
  addresses: readonly string[];
  covenants?: readonly string[] | undefined;
  template?: string | null | undefined;
}

/**
 * Returns the kinds of events that are sent: addresses and covenants would do nothing without
 * theirs.
 */
export const eventsOf = <Name extends EventName>(
  events: readonly Name[],
  { addresses, covenants = [], template }: Named,
): Set<Name | 'address' | 'covenant'> =>
  new Set([
    ...events,
    ...(addresses.length > 0 ? (['address'] as const) : []),
    ...(covenants.length > 0 || template != null ? (['covenant'] as const) : []),
  ]);

/** Returns what a step must be read with for all of these subscribers. */
export function requestFor(subscriptions: readonly Subscription[]): StepRequest {
  const request = requestForAll(subscriptions);
  const ofAddresses = subscriptions.filter(watchesAddresses);
  return {
    ...request,
    addresses: request.addresses && [...new Set(ofAddresses.flatMap(({ addresses }) => [...addresses]))],
    covenants: request.covenants && filterOf(subscriptions.filter(watchesCovenants)),
  };
}

const filterOf = (subscriptions: readonly Subscription[]): CovenantFilter => ({
  ids: [...new Set(subscriptions.flatMap(({ covenants }) => [...covenants]))],
  templates: [...new Set(subscriptions.flatMap(({ template = [] }) => template))],
});

/**
 * Returns a request for all subscriptions that reads the changes of every address and covenant:
 * looking for those of thousands of subscribers would take longer.
 */
export function requestForAll(subscriptions: Iterable<Subscription>): StepRequest {
  let withIds = false;
  let ofAddresses = false;
  let ofCovenants = false;
  const numbers = new Set<number>();
  for (const subscription of subscriptions) {
    withIds ||= subscription.withIds;
    const [watchesSome, watchesOthers] = [watchesAddresses(subscription), watchesCovenants(subscription)];
    ofAddresses ||= watchesSome;
    ofCovenants ||= watchesOthers;
    if ((watchesSome || watchesOthers) && subscription.confirmations !== undefined)
      numbers.add(subscription.confirmations);
  }
  return {
    withIds,
    addresses: ofAddresses ? 'all' : undefined,
    covenants: ofCovenants ? 'all' : undefined,
    confirmations: numbers,
  };
}

/** Returns whether a step was read with everything that a subscriber needs. */
export function serves({ changes, covenants, added }: Step, subscription: Subscription): boolean {
  const { events, confirmations, withIds } = subscription;
  if (withIds && events.has('chain') && added.some(({ acceptedTransactionIds: ids }) => ids === undefined))
    return false;
  const hasAll = (known: StepChanges<Change> | undefined): boolean =>
    known !== undefined && (confirmations === undefined || known.confirmed.has(confirmations));
  return (!watchesAddresses(subscription) || hasAll(changes)) && (!watchesCovenants(subscription) || hasAll(covenants));
}

export interface Sink {
  hash: string;
  blueScore: bigint;
}
