/** Collects what a batch and the chain blocks that it removes do to covenants. */
import type { TransactionKey } from '@kasgres/database';
import { type Hash, type Sompi, toHex } from '@kasgres/kaspa';
import type { CovenantEventKind } from '@kasgres/programs';
import { type AcceptedTransaction, type ChainBlock, getOrInsert } from '../state-changes.ts';
import { hourOf } from '../balances/hourly-changes/hourly-deltas.ts';
import type { Reveals } from '../reveals/reveals.ts';
import type { MarkedSpend, MarkedSpends } from '../utxos/marked-spends.ts';

/** The effect of an accepted transaction on a covenant. */
export interface CovenantEvent {
  covenantId: Hash;
  transaction: TransactionKey;
  chainBlock: ChainBlock;
  position: number;
  kind: CovenantEventKind;
  /** The template of the last program that its inputs reveal, if it has one. */
  template: Hash | undefined;
}

export interface RemovedEvent {
  covenantId: Buffer;
  chainTime: bigint;
  kind: CovenantEventKind;
  /** Null if it is the first event that is known. */
  previousSeen: bigint | null;
  previousTemplate: bigint | null;
}

/** The gain or loss of a covenant, in sompi and in UTXOs. */
export interface CovenantDelta {
  covenantId: Hash;
  balance: Sompi;
  utxoCount: number;
}

/** The events of a covenant that a batch adds, in the order of acceptance. */
export interface CovenantAddition extends CovenantDelta {
  events: CovenantEvent[];
}

/** The events of a covenant that a batch removes. */
export interface CovenantRemoval extends CovenantDelta {
  eventCount: number;
  /** The state of the covenant before the first of them; null if there was none. */
  previousSeen: bigint | null;
  previousTemplate: bigint | null;
}

type AcceptedAt = Pick<AcceptedTransaction, 'key' | 'chainBlock' | 'position'>;

interface Touch {
  covenantId: Hash;
  isSpent: boolean;
  isCreated: boolean;
}

export class CovenantChanges {
  /** In the order of the chain. */
  removedEvents: readonly RemovedEvent[] = [];
  readonly #created: { at: AcceptedAt; covenantId: Hash; amount: Sompi }[] = [];

  addOutputs({ key, chainBlock, position, created }: AcceptedTransaction): void {
    for (const { covenantId, amount } of created) {
      if (covenantId !== undefined) this.#created.push({ at: { key, chainBlock, position }, covenantId, amount });
    }
  }

  additions(marked: readonly MarkedSpend[], reveals: Reveals): CovenantAddition[] {
    const acceptedAt = new Map<TransactionKey, AcceptedAt>();
    const touches = new Map<TransactionKey, Map<string, Touch>>();
    const additions = new Map<string, CovenantAddition>();
    const touch = (at: AcceptedAt, { covenantId, amount }: { covenantId: Hash; amount: Sompi }, sign: 1 | -1): void => {
      acceptedAt.set(at.key, at);
      const name = toHex(covenantId);
      const ofTransaction = getOrInsert(touches, at.key, () => new Map<string, Touch>());
      const found = getOrInsert(ofTransaction, name, () => ({ covenantId, isSpent: false, isCreated: false }));
      if (sign === 1) found.isCreated = true;
      else found.isSpent = true;
      const addition = getOrInsert(additions, name, () => ({ covenantId, balance: 0n, utxoCount: 0, events: [] }));
      addition.balance += BigInt(sign) * amount;
      addition.utxoCount += sign;
    };
    for (const { spender, utxo } of marked) {
      const { covenantId, amount } = utxo;
      if (covenantId !== undefined) touch(spender, { covenantId, amount }, -1);
    }
    for (const { at, ...output } of this.#created) touch(at, output, 1);
    const templates = lastTemplates(reveals);
    for (const { key, chainBlock, position } of [...acceptedAt.values()].sort(byAcceptance)) {
      for (const [name, { covenantId, isSpent, isCreated }] of touches.get(key) ?? []) {
        const kind = isSpent ? (isCreated ? 'transition' : 'burn') : 'genesis';
        const template = templates.get(key)?.get(name);
        additions.get(name)?.events.push({ covenantId, transaction: key, chainBlock, position, kind, template });
      }
    }
    return [...additions.values()];
  }

  removals({ removed, restored }: MarkedSpends): CovenantRemoval[] {
    const removals = new Map<string, CovenantRemoval>();
    for (const { covenantId, previousSeen, previousTemplate } of this.removedEvents) {
      const first = { covenantId, balance: 0n, utxoCount: 0, eventCount: 0, previousSeen, previousTemplate };
      getOrInsert(removals, toHex(covenantId), () => first).eventCount += 1;
    }
    const add = (utxos: MarkedSpends['removed'], sign: 1 | -1): void => {
      for (const { covenantId, amount } of utxos) {
        const removal = covenantId === undefined ? undefined : removals.get(toHex(covenantId));
        if (removal === undefined) continue;
        removal.balance += BigInt(sign) * amount;
        removal.utxoCount += sign;
      }
    };
    add(removed, -1);
    add(restored, 1);
    return [...removals.values()];
  }
}

function byAcceptance(a: AcceptedAt, b: AcceptedAt): number {
  return a.chainBlock.index - b.chainBlock.index || a.position - b.position;
}

/**
 * Returns the template of the last program that each transaction of the batch reveals, by covenant.
 */
function lastTemplates(reveals: Reveals): Map<TransactionKey, Map<string, Hash>> {
  const templates = new Map<TransactionKey, Map<string, Hash>>();
  for (const reveal of reveals.found) {
    if (reveal.covenantId === undefined) continue;
    const { template } = reveals.describe(reveal);
    // Inputs are in ascending order.
    if (template !== undefined) {
      getOrInsert(templates, reveal.transaction, () => new Map<string, Hash>()).set(toHex(reveal.covenantId), template);
    }
  }
  return templates;
}

export interface EventHour {
  hour: number;
  kind: CovenantEventKind;
  events: number;
}

export function eventHours(added: readonly CovenantAddition[], removed: readonly RemovedEvent[]): EventHour[] {
  const hours = new Map<string, EventHour>();
  const add = (chainTime: bigint, kind: CovenantEventKind, sign: 1 | -1): void => {
    const hour = hourOf(chainTime);
    getOrInsert(hours, `${hour}:${kind}`, () => ({ hour, kind, events: 0 })).events += sign;
  };
  for (const { events } of added) for (const { chainBlock, kind } of events) add(chainBlock.chainTime, kind, 1);
  for (const { chainTime, kind } of removed) add(chainTime, kind, -1);
  return [...hours.values()].filter(({ events }) => events !== 0);
}
