/**
 * The view `balance_changes`: the latest hour of each script is in `balances`, the others are in
 * `previous_balance_changes` (docs/adr/0005).
 */
import type { ClientBase } from 'pg';
import { columnsOf } from '../../queryable.ts';
import type { HourlyChange } from './hourly-deltas.ts';

export async function changePreviousChanges(client: ClientBase, earlier: readonly HourlyChange[]): Promise<void> {
  if (earlier.length === 0) return;
  await client.query({
    name: 'change-previous-balances',
    // See `balances` for the reason for MERGE.
    text: `merge into previous_balance_changes b
           using unnest($1::bigint[], $2::integer[], $3::bigint[]) changed (script_id, hour, change)
              on b.script_id = changed.script_id and b.hour = changed.hour
           when matched then update set change = b.change + changed.change
           when not matched then insert values (changed.script_id, changed.hour, changed.change)`,
    values: columnsOf(earlier, 'script', 'hour', 'change'),
  });
}

export async function rebuildPreviousChanges(client: ClientBase): Promise<void> {
  await client.query(
    `insert into previous_balance_changes (script_id, hour, change)
     select script_id, (chain_time / 3600000)::integer as hour, sum(change) from accepted_deltas
      where not is_latest_hour and change is not null
      group by script_id, hour having sum(change) <> 0 order by script_id, hour`,
  );
}
