/** The view `balance_changes`: the latest hour of each script is in `balances`, the others are in `previous_balance_changes` (docs/adr/0005). */
import { copyAll, PREVIOUS_BALANCE_CHANGES } from '@kasgres/database';
import type { DerivedState } from '../derived-state.ts';
import { columnsOf } from '../queryable.ts';
import { ScriptActivityChanges } from '../script-activity/replay.ts';
import { HourlyDeltas } from './hourly-deltas.ts';
import { verifyHourlyBalanceChanges } from './verify.ts';

export const hourlyBalanceChanges: DerivedState = {
  name: 'hourly balance changes',
  appliesAfterReads: true,
  emptied: ['previous_balance_changes'],
  verify: { 4: verifyHourlyBalanceChanges },

  collect(item, changes) {
    if (item.kind === 'accepted') changes.of(HourlyDeltas).add(item.transaction, 1);
  },

  revert(removed, changes) {
    const deltas = changes.of(HourlyDeltas);
    for (const { transactions } of removed) for (const transaction of transactions) deltas.add(transaction, -1);
  },

  /** The script activity was read from the same rows of `balances`. */
  async read(_client, changes) {
    changes.of(HourlyDeltas).settle(changes.of(ScriptActivityChanges).stored);
  },

  async apply(client, changes) {
    const { earlier } = changes.of(HourlyDeltas);
    if (earlier.length === 0) return;
    await client.query({
      name: 'change-earlier-balances',
      // See `balances` for the reason for MERGE.
      text: `merge into previous_balance_changes b
             using unnest($1::bigint[], $2::integer[], $3::bigint[]) changed (script_id, hour, change)
                on b.script_id = changed.script_id and b.hour = changed.hour
             when matched then update set change = b.change + changed.change
             when not matched then insert values (changed.script_id, changed.hour, changed.change)`,
      values: columnsOf(earlier, 'script', 'hour', 'change'),
    });
  },

  async rebuildFromDeltas(client) {
    await client.query(
      `insert into previous_balance_changes (script_id, hour, change)
       select script_id, hour, change from hourly_balance_changes() where not is_latest and change <> 0 order by script_id, hour`,
    );
  },

  async rebuildFromTotals(client, { chain }) {
    await copyAll(client, PREVIOUS_BALANCE_CHANGES, chain.earlierHours());
  },
};
