-- What becomes of blocks?
--
-- Blocks of the last 2,000 DAA scores: on the chain, merged as blue or red, or not merged. The
-- latest blocks are not merged yet. Others stay unmerged after a reorganisation or if they arrived
-- very late. Transactions of red blocks count as well; only a block that is never merged is an
-- orphan in the sense of other chains.

with recent as (
  select
    b.block_key,
    case when b.is_chain_block then 'on the chain' else coalesce('merged, ' || b.color, 'not merged') end as fate,
    b.transaction_count
  from kaspa.blocks b
  where b.daa_score > (select max(daa_score) - 2000 from kaspa.chain_blocks)
)
select
  fate,
  count(*) as blocks,
  round(100 * count(*) / sum(count(*)) over (), 2) as percent,
  round(avg(transaction_count), 2) as transactions,
  round(avg((select count(*) from kaspa.block_parents p where p.block_key = r.block_key)), 2) as parents
from recent r
group by fate
order by blocks desc, fate;
