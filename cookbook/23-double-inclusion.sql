-- How much block space is spent on duplicate transactions?
--
-- Transactions accepted by the last 1,000 chain blocks, by the number of blocks that contain them.
-- Miners who work in parallel pick from the same mempool. A transaction is accepted once; the other
-- copies only take space.

with latest as (
  select index as chain_index from kaspa.chain_blocks order by index desc limit 1000
),
recent as materialized (
  select a.transaction_key
  from latest
    join kaspa.accepted_transactions a using (chain_index)
  where not a.is_coinbase
),
counted as (
  select count(*) as blocks
  from recent r
    join kaspa.block_transactions c using (transaction_key)
  group by r.transaction_key
)
select
  blocks,
  count(*) as transactions,
  round(100 * count(*) / sum(count(*)) over (), 2) as percent,
  (blocks - 1) * count(*) as places_wasted
from counted
group by blocks
order by blocks;
