-- How long does it take from a block to acceptance?
--
-- Seconds from the earliest block with the transaction to the chain block that accepted it, of the last 1,000 chain blocks, by the
-- times in the blocks. What it waited in mempools before is not on the chain. Late blocks that carry old transactions make no difference:
-- the earliest counts.

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
