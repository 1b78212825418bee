-- How many blocks are found at the same time?
--
-- The last 1,000 chain blocks by the number of blocks that each merges, including its selected
-- parent. 1 means that no block was found in parallel. A higher block rate or slower propagation
-- widens the DAG.

with merged as (
  select blue_count + red_count as blocks_merged
  from kaspa.chain_blocks
  order by index desc
  limit 1000
)
select blocks_merged, count(*) as chain_blocks, round(100 * count(*) / sum(count(*)) over (), 2) as percent
from merged
group by blocks_merged
order by blocks_merged;
