-- How many blocks are found at the same time?
--
-- The last 1,000 chain blocks by how many blocks each merges, the one before it on the chain included: 1 means that nothing was
-- found beside it. The more blocks a second, and the slower they travel, the wider the DAG.

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
