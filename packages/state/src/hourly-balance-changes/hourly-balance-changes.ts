import { BALANCE_CHANGES, copyAll } from '@kasgres/database';
import { type DerivedState, getOrInsert, type TransactionDeltas } from '../derived-state.ts';
import { columnsOf } from '../queryable.ts';
import { verifyHourlyBalanceChanges } from './verify.ts';

const HOUR_MS = 3_600_000n;

/** Returns Unix hours. Timestamps of blocks may decrease, which would give negative running balances. @param chainTime Unix milliseconds */
export function hourOf(chainTime: bigint): number {
  return Number(chainTime / HOUR_MS);
}

export class HourlyDeltas {
  readonly #hours = new Map<number, Map<number, bigint>>();

  /** @param sign 1 for an accepted transaction, −1 for one of a removed chain block */
  add({ chainBlock, deltas }: Pick<TransactionDeltas, 'chainBlock' | 'deltas'>, sign: 1 | -1): void {
    const scripts = getOrInsert(this.#hours, hourOf(chainBlock.chainTime), () => new Map());
    for (const [script, { sent, received }] of deltas) {
      scripts.set(script, (scripts.get(script) ?? 0n) + BigInt(sign) * (received - sent));
    }
  }

  rows(): { script: number; hour: number; change: bigint }[] {
    return [...this.#hours]
      .flatMap(([hour, scripts]) => [...scripts].map(([script, change]) => ({ script, hour, change })))
      .filter(({ change }) => change !== 0n)
      .sort((one, other) => one.script - other.script || one.hour - other.hour);
  }
}

export const hourlyBalanceChanges: DerivedState = {
  name: 'hourly balance changes',
  emptied: ['balance_changes'],
  verify: { 4: verifyHourlyBalanceChanges },

  collect(item, changes) {
    if (item.kind === 'accepted') changes.of(HourlyDeltas).add(item.transaction, 1);
  },

  revert(removed, changes) {
    const deltas = changes.of(HourlyDeltas);
    for (const { transactions } of removed) for (const transaction of transactions) deltas.add(transaction, -1);
  },

  async apply(client, changes) {
    const rows = changes.of(HourlyDeltas).rows();
    if (rows.length === 0) return;
    await client.query({
      name: 'change-balances-by-hour',
      // See `balances` for the reason for MERGE.
      text: `merge into balance_changes b
             using unnest($1::bigint[], $2::integer[], $3::bigint[]) changed (script_id, hour, change)
                on b.script_id = changed.script_id and b.hour = changed.hour
             when matched then update set change = b.change + changed.change
             when not matched then insert values (changed.script_id, changed.hour, changed.change)`,
      values: columnsOf(rows, 'script', 'hour', 'change'),
    });
  },

  async rebuildFromTotals(client, { chain }) {
    await copyAll(client, BALANCE_CHANGES, chain.hours());
  },

  async rebuildFromDeltas(client) {
    await client.query('select make_balance_changes()');
  },
};
