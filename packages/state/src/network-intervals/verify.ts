import { AT_BOOTSTRAP, CUT, TOUCHES } from '../common-table-expressions.ts';
import { DIFFERENCE, faultsOf } from '../queryable.ts';

/**
 * With retention, intervals up to that of the first chain block cannot be checked, and scripts are
 * new when they were first seen.
 */
const SELECT_WRONG_INTERVALS = `
  with ${TOUCHES}, ${AT_BOOTSTRAP}, ${CUT},
  works as materialized (select bits, work_of_bits(bits) as work
    from (select distinct bits from blocks) used),
  intervals as (
    select c.index, c.block_id, l.length, l.milliseconds,
      c.chain_time - c.chain_time % l.milliseconds as start
    from chain_blocks c
    cross join (values ('minute', 60 * 1000), ('hour', 60 * 60 * 1000),
      ('day', 24 * 60 * 60 * 1000)) l (length, milliseconds)
  ),
  bare_bootstraps as (
    select s.block_id from bootstrap_blocks s join blocks b on b.id = s.block_id
    where s.chain_index = (select min(index) from chain_blocks)
      or b.hash in (select before_block_hash from gaps)
  ),
  of_chain as (select length, start, count(*) as chain_blocks, max(index) as last_index
    from intervals group by length, start),
  of_merges as (
    select i.length, i.start, count(*) as blocks,
      count(*) filter (where merged.id = any (b.merge_set_reds)) as red_blocks,
      sum(works.work) as work
    from intervals i
    join blocks b on b.id = i.block_id
    cross join unnest(b.merge_set_blues || b.merge_set_reds) as merged (id)
    join blocks m on m.id = merged.id
    join works on works.bits = m.bits
    where i.block_id not in (select block_id from bare_bootstraps)
    group by i.length, i.start
  ),
  net as (
    select index, transaction_id, is_coinbase, sum(sent) as sent, sum(received) as received
    from touches group by index, transaction_id, is_coinbase
  ),
  of_transactions as (
    select i.length, i.start, count(*) filter (where not is_coinbase) as transactions,
      sum(sent - received) filter (where not is_coinbase) as fees,
      sum(received) filter (where not is_coinbase) as volume, sum(received - sent) as minted
    from intervals i join net on net.index = i.index group by i.length, i.start
  ),
  of_scripts as (
    select i.length, i.start, count(distinct t.script_id) as active_scripts
    from intervals i join touches t on t.index = i.index group by i.length, i.start
  ),
  first_touches as (
    select t.script_id, min(t.index) as index from touches t
      left join at_bootstrap s on s.script_id = t.script_id
    group by t.script_id, s.index having s.index is null or s.index >= min(t.index)
  ),
  of_new as (
    select i.length, i.start, count(*) as new_scripts
    from intervals i join first_touches f on f.index = i.index where not exists (select from cut)
      group by i.length, i.start
    union all
    select i.length, i.start, count(*)
      from (select distinct length, milliseconds, start from intervals) i
    join balances b on b.first_seen >= i.start and b.first_seen < i.start + i.milliseconds
    where exists (select from cut) group by i.length, i.start
  ),
  segments as (select chain_index, utxo_sompi,
    lead(chain_index) over (order by chain_index) as next_index from bootstrap_blocks),
  minted as (select index, sum(received - sent) as minted from net group by index),
  supplies as (
    select c.index, s.utxo_sompi + coalesce(
        sum(m.minted) filter (where c.index > s.chain_index) over (partition by s.chain_index
          order by c.index), 0) as supply
    from chain_blocks c
    join segments s on c.index >= s.chain_index
      and c.index < coalesce(s.next_index, 9223372036854775807)
    left join minted m on m.index = c.index
  ),
  ends as (select length, start, supply from of_chain join supplies on supplies.index = last_index),
  expected as (
    select length, start, chain_blocks, coalesce(blocks, 0) as blocks,
      coalesce(red_blocks, 0) as red_blocks, coalesce(transactions, 0) as transactions,
      coalesce(fees, 0) as fees, coalesce(volume, 0) as volume,
      coalesce(minted, 0)::bigint as minted, supply::bigint as supply,
      coalesce(active_scripts, 0) as active_scripts, coalesce(new_scripts, 0) as new_scripts,
      coalesce(work, 0) as work
    from of_chain
    left join of_merges using (length, start)
    left join of_transactions using (length, start)
    left join of_scripts using (length, start)
    left join of_new using (length, start)
    left join ends using (length, start)
  ),
  stored as (
    select length::text, start, chain_blocks, blocks, red_blocks, transactions, fees, volume,
      minted, supply, active_scripts, new_scripts, work
    from network_intervals
  )
  select format('the %s from %s: %s', length,
    to_char(to_timestamp(start / 1000) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    ${DIFFERENCE}) as fault
  from stored s full join expected e using (length, start)
  where s is distinct from e
    and not exists (select from cut join intervals i on i.index = cut.index
      where i.length = length and start <= i.start)
  limit 20`;

export const verifyNetworkIntervals = faultsOf(SELECT_WRONG_INTERVALS);
