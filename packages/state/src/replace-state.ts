/**
 * Writes the differences of two UTXO sets after a gap, so that the cost is independent of the
 * history. Counts of accepted transactions stay.
 */
import type { ClientBase } from 'pg';
import { hourOf } from './balances/hourly-changes/hourly-deltas.ts';
import { writeBootstrapPrograms } from './programs/bootstrap-programs.ts';
import { LENGTHS, startOfInterval } from './network-intervals/intervals.ts';

/**
 * Must run after `bootstrap_utxos` has its set and the checkpoint is at the block.
 * @param chainTime of the block, Unix milliseconds
 * @param isGap whether the block is not one of the chain that is known
 */
export async function replaceUtxoSet(client: ClientBase, chainTime: bigint, isGap: boolean): Promise<void> {
  await client.query('analyze bootstrap_utxos');
  // Their events in the gap are not known, even if they have the same UTXOs after it.
  if (isGap) await client.query('update covenants set is_complete = false where is_complete and utxo_count > 0');
  await client.query(REPLACE_STATE, [hourOf(chainTime), chainTime]);
  await writeBootstrapPrograms(client, chainTime);
  // Another chain block may have accepted the same transaction.
  await client.query(
    `update utxos u set block_daa_score = s.block_daa_score
       from bootstrap_utxos s
      where s.script_id = u.script_id and s.transaction_id = u.transaction_id and s.index = u.index
        and s.block_daa_score <> u.block_daa_score`,
  );
  await client.query(
    `update network_intervals i set supply = circulating_sompi
       from checkpoint, unnest($1::interval_length[], $2::bigint[]) last (length, start)
      where i.length = last.length and i.start = last.start`,
    [LENGTHS, LENGTHS.map((length) => startOfInterval(length, chainTime))],
  );
}

/**
 * Compares outpoints only, since they determine amount and script. $1: the hour of the bootstrap
 * block, $2: its chain_time
 */
const REPLACE_STATE = `
  with vanished as (
    delete from utxos u
     where not exists (select from bootstrap_utxos s
       where s.transaction_id = u.transaction_id and s.index = u.index)
    returning script_id, amount, covenant_id),
  appeared as (
    insert into utxos (transaction_id, index, script_id, amount, block_daa_score,
      is_coinbase, covenant_id)
    select transaction_id, index, script_id, amount, block_daa_score, is_coinbase, covenant_id
      from bootstrap_utxos s
     where not exists (select from utxos u
       where u.script_id = s.script_id and u.transaction_id = s.transaction_id
         and u.index = s.index)
    returning script_id, amount, covenant_id),
  covenants_changed as (
    insert into covenants (event_count, balance, first_seen, last_seen, utxo_count,
      is_complete, covenant_id)
    select 0, sum(amount), $2::bigint, $2::bigint, sum(count), false, covenant_id
      from (select covenant_id, -amount as amount, -1 as count from vanished
            union all select covenant_id, amount, 1 from appeared) changed
     where covenant_id is not null
     group by covenant_id
    on conflict (covenant_id) do update set
      balance = covenants.balance + excluded.balance,
        utxo_count = covenants.utxo_count + excluded.utxo_count, is_complete = false),
  changes as (
    select script_id, sum(amount) as change, sum(count) as count
      from (select script_id, -amount as amount, -1 as count from vanished
            union all select script_id, amount, 1 from appeared) changed
     group by script_id),
  balances_changed as (
    insert into balances (script_id, balance, utxo_count, transaction_count, first_seen, last_seen,
      last_change, last_change_hour, is_tagged)
    select script_id, change, count, 0, $2::bigint, $2::bigint, change, $1::integer,
           script_id in (select s.id from scripts s join tags t on t.address = s.address)
      from changes order by script_id
    on conflict (script_id) do update set
      balance = balances.balance + excluded.balance,
      utxo_count = balances.utxo_count + excluded.utxo_count,
      first_seen = coalesce(balances.first_seen, excluded.first_seen),
      last_seen = coalesce(balances.last_seen, excluded.last_seen),
      last_change = case
        when balances.last_change_hour > excluded.last_change_hour or excluded.last_change = 0
          then balances.last_change
        when balances.last_change_hour = excluded.last_change_hour
          then balances.last_change + excluded.last_change
        else excluded.last_change end,
      last_change_hour = case
        when excluded.last_change = 0 then balances.last_change_hour
        else greatest(balances.last_change_hour, excluded.last_change_hour) end),
  -- The latest hour moves there if it is before the block's, and the change is added there if it is after: a reorg may have removed that hour.
  hours_changed as (
    insert into previous_balance_changes (script_id, hour, change)
    select script_id, least(b.last_change_hour, $1::integer), case
      when b.last_change_hour < $1::integer then b.last_change else c.change end
      from changes c join balances b using (script_id)
     where c.change <> 0 and b.last_change_hour <> $1::integer
       and (b.last_change_hour > $1::integer or b.last_change <> 0)
     order by script_id
    on conflict (script_id, hour) do update
      set change = previous_balance_changes.change + excluded.change),
  clusters_changed as (
    update clusters c set balance = c.balance + changed.balance
      from (select cluster_of(m.script_id) as id, sum(changes.change) as balance
              from changes join cluster_members m using (script_id) group by 1) changed
     where c.id = changed.id)
  update checkpoint set circulating_sompi = circulating_sompi + coalesce((select sum(change)
    from changes), 0)`;
