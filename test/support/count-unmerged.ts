/**
 * Counts the transactions of unmerged blocks for their scripts, as the indexer does when the blocks
 * are merged.
 */
import type { ClientBase, Pool } from 'pg';

export async function countUnmerged(db: ClientBase | Pool): Promise<void> {
  await db.query(
    `with counted as (delete from unmerged_touches returning script_ids),
     touches as (select script_id, count(*) as count from counted, unnest(script_ids) script_id
       group by script_id)
     insert into balances (script_id, balance, transaction_count) select script_id, 0, count
       from touches
     on conflict (script_id) do update
       set transaction_count = balances.transaction_count + excluded.transaction_count`,
  );
}
