/**
 * Computes `balance_changes` of an index from `accepted_deltas` again, as the end of a first
 * catch-up does.
 */
import { rebuildPreviousChanges } from '@kasgres/state/testing';
import type { ClientBase } from 'pg';

export async function replaceBalanceChanges(client: ClientBase): Promise<void> {
  await client.query('delete from previous_balance_changes');
  await rebuildPreviousChanges(client);
  await client.query(
    `update balances b set last_change = coalesce(r.last_change, 0), last_change_hour = coalesce(r.last_change_hour, 0)
       from scripts s left join script_rollups() r on r.script_id = s.id where s.id = b.script_id`,
  );
}
