/**
 * The optional, weaker heuristic of change outputs, which never merges clusters. A transaction has
 * a link if
 * - all its inputs are fully signed by single keys and spend no covenants, so that they have one
 *   owner;
 * - it has exactly two outputs, to different scripts of single keys, neither of which is an
 *   input's;
 * - exactly one of these was never seen on the chain before, since wallets create a new address for
 *   change.
 */
import type { ClientBase } from 'pg';
import { SIGNATURE_SCRIPTS } from './read.ts';

const ARE_FULL_SIGNATURES = `(
  select bool_and(case when length(script) = 66 then get_byte(script, 0) = 65
    and get_byte(script, 65) = 1 else false end)
    from unnest(signed.signature_scripts) script)`;

/** "Seen before" is by chain_time, which is the same for every index. */
const SELECT_LINKS = `
  with two_outputs as materialized (
    select c.index as chain_index, c.chain_time, a.id, o.first_script, o.second_script
      from chain_blocks c
     cross join lateral unnest(c.accepted_transactions) a (id)
     cross join lateral (
       select min(script_id) as first_script, max(script_id) as second_script
         from transaction_outputs where transaction_id = a.id
           having count(*) = 2 and min(script_id) <> max(script_id)
     ) o
     where c.index between $1 and $2
  ),
  seen as (
    select t.chain_index, t.id, least.script_id as change_script, greatest.script_id as paid_script
      from two_outputs t
     cross join lateral (values (first_script, second_script),
       (second_script, first_script)) as pair (change_id, paid_id)
      join balances least on least.script_id = pair.change_id and least.first_seen >= t.chain_time
      join balances greatest on greatest.script_id = pair.paid_id
        and greatest.first_seen < t.chain_time
      join scripts s on s.id = pair.change_id and s.type in ('pubkey', 'pubkeyecdsa')
      join scripts p on p.id = pair.paid_id and p.type in ('pubkey', 'pubkeyecdsa')
  )
  select seen.id, spent.first_script, seen.change_script, seen.chain_index
    from seen
    join transactions t on t.id = seen.id
   cross join lateral (
     select min(i.script_id) filter (where i.index = 0) as first_script
       from transaction_inputs i
       join scripts s on s.id = i.script_id
      cross join lateral (${SIGNATURE_SCRIPTS}) signed
       left join transaction_outputs o
         on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
           and o.index >> 4 = i.previous_index >> 4
       left join bootstrap_utxos u on u.transaction_id = i.previous_transaction_id
         and u.index = i.previous_index
      where i.transaction_id = seen.id
     having count(*) > 0
        and bool_and(s.type in ('pubkey', 'pubkeyecdsa') and ${ARE_FULL_SIGNATURES})
        and bool_and(coalesce(o.transaction_id, u.transaction_id) is not null
          and coalesce(o.covenant_id, u.covenant_id) is null)
        and bool_and(i.script_id not in (seen.change_script, seen.paid_script))
   ) spent`;

export async function writeChangeLinks(client: ClientBase, fromIndex: bigint, toIndex: bigint): Promise<number> {
  const { rowCount } = await client.query({
    name: 'write-change-links',
    text: `insert into change_links (transaction_id, script_id, change_script_id,
      chain_index) ${SELECT_LINKS} on conflict (transaction_id) do nothing`,
    values: [fromIndex, toIndex],
  });
  return rowCount ?? 0;
}
