import type { ChainTime } from '@kasgres/database';
import type { Sompi } from '@kasgres/kaspa';
import { hourOf } from '../balances/hourly-changes/hourly-deltas.ts';
import { getOrInsert } from '../state-changes.ts';

export interface ProtocolHour {
  /** Unix hours. */
  hour: number;
  protocol: string;
  transactions: number;
  fees: Sompi;
}

/**
 * Changes of `protocol_hours`: a transaction counts once for each protocol, however many operations
 * it states.
 */
export class ProtocolHours {
  readonly #hours = new Map<string, ProtocolHour>();

  /** @param delta 1 for an accepted transaction, -1 for one of a removed chain block */
  add(protocols: Iterable<string>, chainTime: ChainTime, fee: Sompi, delta: 1 | -1): void {
    const hour = hourOf(chainTime);
    for (const protocol of new Set(protocols)) {
      const empty = { hour, protocol, transactions: 0, fees: 0n };
      const sum = getOrInsert(this.#hours, `${hour} ${protocol}`, () => empty);
      sum.transactions += delta;
      sum.fees += BigInt(delta) * fee;
    }
  }

  rows(): ProtocolHour[] {
    return [...this.#hours.values()].filter(({ transactions, fees }) => transactions !== 0 || fees !== 0n);
  }
}
