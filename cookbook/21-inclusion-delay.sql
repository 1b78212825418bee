-- How long does it take from inclusion to acceptance?
--
-- Seconds from the earliest block that contains a transaction to the chain block that accepts it,
-- for the last 1,000 chain blocks, by the times in the blocks. Time in mempools is not on the chain
-- and not included.

with latest as (
  select index as chain_index from kaspa.chain_blocks order by index desc limit 1000
),
recent as materialized (
  select a.transaction_key, a.accepted_at
  from latest
    join kaspa.accepted_transactions a using (chain_index)
  where not a.is_coinbase
),
delays as (
  select extract(epoch from r.accepted_at - min(b.time)) as seconds
  from recent r
    join kaspa.block_transactions c using (transaction_key)
    join kaspa.blocks b using (block_key)
  group by r.transaction_key, r.accepted_at
)
select
  count(*) as transactions,
  round(avg(seconds), 3) as average,
  round(percentile_disc(0.5) within group (order by seconds), 3) as p50,
  round(percentile_disc(0.9) within group (order by seconds), 3) as p90,
  round(percentile_disc(0.99) within group (order by seconds), 3) as p99,
  round(max(seconds), 3) as longest
from delays;
