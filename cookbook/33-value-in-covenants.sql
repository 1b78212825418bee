-- How much value is locked in covenants?
--
-- Amounts that accepted transactions put into covenants and took out of them by day, and the sum of
-- all UTXOs with a covenant at the end of the day. It is counted back from the UTXOs of today, so
-- it is exact although some covenants are older than the index, and it ends at the latest start,
-- before which some changes may be unknown. A covenant limits how its UTXOs are spent; it does not
-- say for how long.

with first_block as (
  select index, chain_time
  from kaspa.chain_blocks
  where index = 1 + greatest(
    (select max(chain_index) from kaspa.starts),
    (
      select index
      from kaspa.chain_blocks
      where chain_time < (select max(start) - interval '29 days' from kaspa.network_days)
      order by chain_time desc, index desc
      limit 1
    )
  )
),
touching as (
  select distinct date_trunc('day', chain_time, 'UTC') as start, transaction_key
  from kaspa.covenant_events
  where chain_index >= (select index from first_block)
),
changes as (
  select t.start, o.amount_kas as put_kas, 0 as taken_kas
  from touching t join kaspa.outputs o using (transaction_key)
  where o.covenant_id is not null
  union all
  select t.start, 0, i.amount_kas
  from touching t join kaspa.inputs i using (transaction_key)
  where i.covenant_id is not null
),
by_day as (
  select start, sum(put_kas) as put_kas, sum(taken_kas) as taken_kas from changes group by start
)
select
  (n.start at time zone 'UTC')::date as day,
  coalesce(put_kas, 0)::numeric(38,8) as put_kas,
  coalesce(taken_kas, 0)::numeric(38,8) as taken_kas,
  (
    (select coalesce(sum(balance_kas), 0) from kaspa.covenants)
    - coalesce(sum(put_kas - taken_kas) over (order by n.start desc rows between unbounded preceding and 1 preceding), 0)
  )::numeric(38,8) as locked_kas
from kaspa.network_days n
  left join by_day using (start)
where n.blocks > 0 and n.start > (select chain_time - interval '1 day' from first_block)
order by n.start desc
limit 30;
