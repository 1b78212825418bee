-- What questions of analysts would otherwise scan everything for: what happened on the chain by minute, hour and day, and what every
-- script adds up to. Kept by the batch that changes it, undone by the reorg that undoes it.

alter table chain_blocks add column chain_time bigint;
update chain_blocks c set chain_time = t.chain_time
  from (select index, max(timestamp) over (order by index) as chain_time from chain_blocks) t
 where t.index = c.index;
alter table chain_blocks alter column chain_time set not null;
comment on column chain_blocks.chain_time is 'The latest time of this block and of those below it on the chain, Unix milliseconds: never goes back, as timestamp may. Rollups, and what says when a script was seen, count by it.';

alter table balances
  add column accepted_count bigint not null default 0,
  add column receiving_count bigint not null default 0,
  add column sending_count bigint not null default 0,
  add column coinbase_count bigint not null default 0,
  add column received numeric not null default 0,
  add column sent numeric not null default 0,
  add column first_seen bigint,
  add column last_seen bigint;
comment on column balances.accepted_count is 'Number of accepted transactions that touch it.';
comment on column balances.receiving_count is 'Number of accepted transactions with an output to it.';
comment on column balances.sending_count is 'Number of accepted transactions with an input from it.';
comment on column balances.coinbase_count is 'Number of accepted coinbase transactions with an output to it.';
comment on column balances.received is 'Sum of the outputs to it of accepted transactions, change included, sompi.';
comment on column balances.sent is 'Sum of the inputs from it of accepted transactions, sompi.';
comment on column balances.first_seen is 'chain_blocks.chain_time of the first block on the chain that accepts a transaction that touches it, or of the latest start when it held coins there; null while there is none.';
comment on column balances.last_seen is 'chain_blocks.chain_time of the last such block.';

create type interval_length as enum ('minute', 'hour', 'day');
comment on type interval_length is 'Length of an interval of network_intervals (UTC).';

create table network_intervals (
  length interval_length not null,
  start bigint not null,
  chain_blocks bigint not null,
  blocks bigint not null,
  red_blocks bigint not null,
  transactions bigint not null,
  fees bigint not null,
  volume numeric not null,
  minted bigint not null,
  supply bigint not null,
  active_scripts bigint not null,
  new_scripts bigint not null,
  work numeric not null,
  constraint network_intervals_pkey primary key (length, start)
);
comment on table network_intervals is 'What happened in each minute, hour and day of the chain. A chain block belongs to the interval of its chain_time, and with it what it merges and accepts; intervals without a chain block have no row.';
comment on column network_intervals.length is 'How long it is.';
comment on column network_intervals.start is 'When it begins, Unix milliseconds.';
comment on column network_intervals.chain_blocks is 'Chain blocks.';
comment on column network_intervals.blocks is 'Blocks merged by them, blue and red.';
comment on column network_intervals.red_blocks is 'Red ones among these.';
comment on column network_intervals.transactions is 'Accepted transactions other than coinbases.';
comment on column network_intervals.fees is 'Fees of these, sompi.';
comment on column network_intervals.volume is 'Outputs of these, change included, sompi.';
comment on column network_intervals.minted is 'Outputs minus inputs of all accepted transactions: by how much the supply grew, sompi.';
comment on column network_intervals.supply is 'Circulating supply at its end, sompi.';
comment on column network_intervals.active_scripts is 'Scripts that accepted transactions touch, each once.';
comment on column network_intervals.new_scripts is 'Those among these that were never seen before.';
comment on column network_intervals.work is 'Work of the merged blocks: the number of hashes that it takes to find them, on average.';

create table seen_before (
  chain_index bigint not null,
  script_ids bigint[] not null,
  last_seen bigint[] not null,
  constraint seen_before_pkey primary key (chain_index)
);
comment on table seen_before is 'What a reorg needs to undo balances.last_seen: for each of the latest chain blocks, the scripts that it touches and when they were seen before it.';
comment on column seen_before.chain_index is 'chain_blocks.index.';
comment on column seen_before.script_ids is 'Scripts that its accepted transactions touch, each once.';
comment on column seen_before.last_seen is 'balances.last_seen of each before this block; null when it was never seen before.';

-- What was written before has none of this yet. The end of a first catch-up makes it by the same functions, and no other way.

create function work_of_bits(bits bigint) returns numeric language sql immutable strict parallel safe set search_path = public as $$
  select case
           when bits & 8388608 <> 0 then 115792089237316195423570985008687907853269984665640564039457584007913129639936
           else div(115792089237316195423570985008687907853269984665640564039457584007913129639936, 1 + case
                  when bits >> 24 < 3 then ((bits & 8388607) >> (8 * (3 - (bits >> 24))::integer))::numeric
                  else mod((bits & 8388607) * power(256::numeric, (bits >> 24) - 3),
                           115792089237316195423570985008687907853269984665640564039457584007913129639936)
                end)
         end
$$;
comment on function work_of_bits(bigint) is 'How many hashes it takes on average to find a block with these bits: 2^256 / (target + 1), as the node counts it.';

-- Without a search path of its own, so that the planner sees through it.
create function accepted_by_chain() returns table (chain_index bigint, chain_time bigint, transaction_id bigint, is_coinbase boolean)
language sql stable as $$
  select listed.index, listed.chain_time, listed.transaction_id, t.subnetwork_id = 1
    from (select c.index, c.chain_time, unnest(c.accepted_transactions) as transaction_id from chain_blocks c) listed
    join transactions t on t.id = listed.transaction_id
$$;
comment on function accepted_by_chain() is 'What each chain block accepts.';

create function script_rollups() returns table (
  script_id bigint, accepted_count bigint, receiving_count bigint, sending_count bigint, coinbase_count bigint,
  received numeric, sent numeric, first_seen bigint, last_seen bigint)
language sql stable as $$
  select script_id, count(received), count(*) filter (where received > 0), count(*) filter (where sent > 0),
         count(*) filter (where is_coinbase and received > 0), coalesce(sum(received), 0), coalesce(sum(sent), 0),
         min(chain_time), max(chain_time)
    from (select a.script_id, accepted.chain_time, accepted.is_coinbase, a.amount_received as received, a.amount_sent as sent
            from accepted_by_chain() accepted join address_transactions a on a.transaction_id = accepted.transaction_id
          union all
          select u.script_id, (select c.chain_time from starts s join chain_blocks c on c.index = s.chain_index
                                order by s.chain_index desc limit 1), false, null, null
            from start_utxos u) sighted
   group by script_id
$$;
comment on function script_rollups() is 'What balances sums up of accepted transactions, of every script that has any or that held coins at the latest start; from all rows.';

create function make_network_intervals() returns void language sql set search_path = public as $$
  delete from network_intervals;
  insert into network_intervals (length, start, chain_blocks, blocks, red_blocks, transactions, fees, volume, minted, supply,
                                 active_scripts, new_scripts, work)
  with touches as (
    select accepted.chain_index, accepted.chain_time, accepted.is_coinbase, a.amount_received as received,
           a.amount_sent as sent,
           lag(accepted.chain_time) over (partition by a.script_id order by accepted.chain_index) as seen_before,
           held.script_id is not null and accepted.chain_index > (select max(s.chain_index) from starts s) as was_held
      from accepted_by_chain() accepted
      join address_transactions a on a.transaction_id = accepted.transaction_id
      left join (select distinct u.script_id from start_utxos u) held on held.script_id = a.script_id),
  acceptance as (
    select chain_index, coalesce(sum(sent - received) filter (where not is_coinbase), 0) as fees,
           coalesce(sum(received) filter (where not is_coinbase), 0) as volume,
           sum(received - sent) as minted,
           count(*) filter (where seen_before is null or seen_before / 60000 < chain_time / 60000) as minute,
           count(*) filter (where seen_before is null or seen_before / 3600000 < chain_time / 3600000) as hour,
           count(*) filter (where seen_before is null or seen_before / 86400000 < chain_time / 86400000) as day,
           count(*) filter (where seen_before is null and not was_held) as new_scripts
      from touches group by chain_index),
  counted as (select chain_index, count(*) as transactions from accepted_by_chain() where not is_coinbase group by chain_index),
  -- What a start merges is before it, unless it was made on a chain block that was there.
  bare_starts as (
    select s.chain_index from starts s join blocks b on b.id = s.block_id
     where s.chain_index = (select min(index) from chain_blocks) or b.hash in (select before_block_hash from gaps)),
  merging as (
    select merged.chain_index, count(*) as blocks, count(*) filter (where merged.is_red) as red_blocks, sum(works.work) as work
      from (select c.index as chain_index, unnest(b.merge_set_blues) as id, false as is_red
              from chain_blocks c join blocks b on b.id = c.block_id
            union all
            select c.index, unnest(b.merge_set_reds), true from chain_blocks c join blocks b on b.id = c.block_id) merged
      join blocks b on b.id = merged.id
      join (select bits, work_of_bits(bits) as work from (select distinct bits from blocks) used) works using (bits)
     where merged.chain_index not in (select chain_index from bare_starts)
     group by merged.chain_index),
  stretches as (select chain_index, utxo_sompi, lead(chain_index) over (order by chain_index) as next_index from starts),
  chain as (
    select c.index, c.chain_time, coalesce(m.blocks, 0) as blocks, coalesce(m.red_blocks, 0) as red_blocks, coalesce(m.work, 0) as work,
           coalesce(t.transactions, 0) as transactions, coalesce(a.fees, 0) as fees, coalesce(a.volume, 0) as volume,
           coalesce(a.minted, 0) as minted, coalesce(a.minute, 0) as minute, coalesce(a.hour, 0) as hour, coalesce(a.day, 0) as day,
           coalesce(a.new_scripts, 0) as new_scripts,
           s.utxo_sompi + sum(case when c.index > s.chain_index then coalesce(a.minted, 0) else 0 end)
             over (partition by s.chain_index order by c.index) as supply
      from chain_blocks c
      join stretches s on c.index >= s.chain_index and (c.index < s.next_index or s.next_index is null)
      left join acceptance a on a.chain_index = c.index
      left join counted t on t.chain_index = c.index
      left join merging m on m.chain_index = c.index)
  select l.length, c.chain_time - c.chain_time % l.milliseconds, count(*), sum(c.blocks), sum(c.red_blocks), sum(c.transactions),
         sum(c.fees), sum(c.volume), sum(c.minted), (array_agg(c.supply order by c.index desc))[1],
         sum(case l.length when 'minute' then c.minute when 'hour' then c.hour else c.day end), sum(c.new_scripts), sum(c.work)
    from chain c
   cross join (values ('minute'::interval_length, 60000), ('hour', 3600000), ('day', 86400000)) l (length, milliseconds)
   group by 1, 2
   order by 1, 2
$$;
comment on function make_network_intervals() is 'Makes network_intervals anew from all rows.';

update balances b
   set accepted_count = r.accepted_count, receiving_count = r.receiving_count, sending_count = r.sending_count,
       coinbase_count = r.coinbase_count, received = r.received, sent = r.sent, first_seen = r.first_seen, last_seen = r.last_seen
  from script_rollups() r
 where r.script_id = b.script_id and not (select coalesce(bool_or(first_catch_up), true) from checkpoint);
do $$ begin
  if not (select coalesce(bool_or(first_catch_up), true) from checkpoint) then perform make_network_intervals(); end if;
end $$;
