/**
 * Which webhooks are read for next. Webhooks at one cursor share the read of its step, and what the
 * read costs depends on their addresses, covenants and numbers of confirmations. So a group has few
 * numbers, and few of the others unless they are those of one key, and the key that has used the
 * least time is next.
 */
import { countWatched, type Subscription, watchesChanges } from '@kasgres/chain-steps';
import type { ActiveWebhook } from './queue.ts';

const MAX_WATCHED = 2000;
const MAX_CONFIRMATIONS = 4;

export interface Group {
  cursor: string;
  webhooks: ActiveWebhook[];
  subscriptions: Subscription[];
}

type Reader = Pick<ActiveWebhook, 'keyId'>;

/** Divides webhooks by cursor, and those at one cursor into groups. */
export function toGroups(
  webhooks: readonly ActiveWebhook[],
  subscriptionOf: (webhook: ActiveWebhook) => Subscription,
): Group[] {
  return [...Map.groupBy(webhooks, ({ cursor }) => cursor)].flatMap(([cursor, atCursor]) => {
    const byKey = [...Map.groupBy(atCursor, ({ keyId }) => keyId).values()];
    const ofKeys = byKey
      .flatMap((each) => divideByConfirmations(each, subscriptionOf))
      .map((ofKey) => {
        const subscriptions = ofKey.map(subscriptionOf);
        return { cursor, webhooks: ofKey, subscriptions, cost: costOf(subscriptions) };
      });
    const groups: (Group & { cost: Cost })[] = [];
    // Small ones first, so that they share a group.
    for (const ofKey of ofKeys.sort((one, other) => one.cost.watched - other.cost.watched)) {
      const last = groups.at(-1);
      const cost = last && sumOf(last.cost, ofKey.cost);
      if (last !== undefined && cost !== undefined && isSmall(cost)) {
        last.webhooks.push(...ofKey.webhooks);
        last.subscriptions.push(...ofKey.subscriptions);
        last.cost = cost;
      } else groups.push(ofKey);
    }
    return groups;
  });
}

/** One statement reads the changes that all numbers of a group confirm, and it has a time limit. */
function divideByConfirmations(
  webhooks: readonly ActiveWebhook[],
  subscriptionOf: (webhook: ActiveWebhook) => Subscription,
): ActiveWebhook[][] {
  const numberOf = (webhook: ActiveWebhook) => subscriptionOf(webhook).confirmations;
  const numbers = [...new Set(webhooks.map(numberOf))];
  const partOf = (webhook: ActiveWebhook) => Math.floor(numbers.indexOf(numberOf(webhook)) / MAX_CONFIRMATIONS);
  return [...Map.groupBy(webhooks, partOf).values()];
}

/** The parts of a read that make it slow. */
interface Cost {
  /** Addresses and covenants. */
  watched: number;
  confirmations: ReadonlySet<number>;
}

function costOf(subscriptions: readonly Subscription[]): Cost {
  const withChanges = subscriptions.filter(watchesChanges);
  return {
    watched: withChanges.reduce((sum, subscription) => sum + countWatched(subscription), 0),
    confirmations: new Set(withChanges.flatMap(({ confirmations = [] }) => confirmations)),
  };
}

const sumOf = (one: Cost, other: Cost): Cost => ({
  watched: one.watched + other.watched,
  confirmations: new Set([...one.confirmations, ...other.confirmations]),
});

const isSmall = ({ watched, confirmations }: Cost): boolean =>
  watched <= MAX_WATCHED && confirmations.size <= MAX_CONFIRMATIONS;

export class ReadingTurns {
  /** Milliseconds that each key has used. */
  readonly #used = new Map<bigint, number>();

  /**
   * Returns groups in their order: first that of the key that has used the least. Keys without a
   * group are forgotten.
   */
  order(groups: readonly Group[]): Group[] {
    const keyIds = new Set(groups.flatMap(({ webhooks }) => webhooks.map(({ keyId }) => keyId)));
    for (const keyId of this.#used.keys()) if (!keyIds.has(keyId)) this.#used.delete(keyId);
    // A new key begins at the level of the others.
    const level = Math.min(...this.#used.values());
    for (const keyId of keyIds) if (!this.#used.has(keyId)) this.#used.set(keyId, Number.isFinite(level) ? level : 0);
    const ranked = groups.map((group) => ({ group, used: this.#leastUsed(group.webhooks) }));
    return ranked.sort((one, other) => one.used - other.used).map(({ group }) => group);
  }

  #leastUsed(readers: readonly Reader[]): number {
    return readers.reduce((least, { keyId }) => Math.min(least, this.#used.get(keyId) ?? 0), Number.POSITIVE_INFINITY);
  }

  /** Divides the time of a read among the keys that it was for. */
  charge(readers: readonly Reader[], milliseconds: number): void {
    const keyIds = new Set(readers.map(({ keyId }) => keyId));
    for (const keyId of keyIds) this.#used.set(keyId, (this.#used.get(keyId) ?? 0) + milliseconds / keyIds.size);
  }
}
