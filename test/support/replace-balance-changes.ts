/** Computes `balance_changes` of an index from `accepted_deltas` again, as the end of a first catch-up does. */
import type { ClientBase } from 'pg';

export async function replaceBalanceChanges(client: ClientBase): Promise<void> {
  await client.query('delete from previous_balance_changes');
  await client.query(
    `insert into previous_balance_changes (script_id, hour, change)
     select script_id, hour, change from hourly_balance_changes() where not is_latest and change <> 0`,
  );
  await client.query(
    `update balances b set last_change = coalesce(c.change, 0), last_change_hour = coalesce(c.hour, 0)
       from scripts s left join (select * from hourly_balance_changes() where is_latest) c on c.script_id = s.id where s.id = b.script_id`,
  );
}
