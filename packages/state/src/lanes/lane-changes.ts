import type { ChainTime } from '@kasgres/database';
import { hourOf } from '../balances/hourly-changes/hourly-deltas.ts';
import { getOrInsert, type TransactionDeltas } from '../state-changes.ts';

export interface LaneHour {
  /** subnetworks.id. */
  subnetwork: number;
  /** Unix hours. */
  hour: number;
  transactions: number;
  fees: bigint;
  gas: bigint;
  firstSeen: ChainTime;
  lastSeen: ChainTime;
}

/** Sums transactions, which must come in the order of the chain, by lane and hour. */
export class LaneHours {
  readonly #lanes = new Map<number, Map<number, LaneHour>>();
  /** By lane, the values of chain_blocks.index. */
  readonly #blocks = new Map<number, Set<number>>();

  add({ lane, deltas, chainBlock: { index, chainTime } }: TransactionDeltas): void {
    if (lane === undefined) return;
    const { subnetwork } = lane;
    getOrInsert(this.#blocks, subnetwork, () => new Set<number>()).add(index);
    const hour = hourOf(chainTime);
    const hours = getOrInsert(this.#lanes, subnetwork, () => new Map<number, LaneHour>());
    const empty = { subnetwork, hour, transactions: 0, fees: 0n, gas: 0n, firstSeen: chainTime, lastSeen: chainTime };
    const sum = getOrInsert(hours, hour, () => empty);
    sum.transactions += 1;
    sum.gas += lane.gas;
    for (const { sent, received } of deltas.values()) sum.fees += sent - received;
    sum.lastSeen = chainTime;
  }

  has(subnetwork: number, hour: number): boolean {
    return this.#lanes.get(subnetwork)?.has(hour) === true;
  }

  /** Returns the chain blocks that accept transactions of each lane, by chain_blocks.index. */
  blocks(): { subnetwork: number; index: number }[] {
    return [...this.#blocks].flatMap(([subnetwork, indexes]) => [...indexes].map((index) => ({ subnetwork, index })));
  }

  rows(): LaneHour[] {
    return [...this.#lanes.values()].flatMap((hours) => [...hours.values()]);
  }
}

/**
 * The sums that the chain blocks of a batch add, and those that its removed chain blocks had added.
 * They do not net: first and last times follow from either.
 */
export class LaneChanges {
  readonly added = new LaneHours();
  readonly removed = new LaneHours();
}
