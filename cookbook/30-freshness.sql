-- How fresh and complete is the index?
--
-- The latest indexed block and its age, the first block of the index, and the gaps in between. All
-- other queries describe the state at this block. An age of minutes means that the indexer or its
-- node is behind (docs/operations.md).

select
  s.network,
  s.blue_score,
  s.time as latest_block,
  now() - s.time as age,
  s.first_catch_up,
  (select time from kaspa.chain_blocks where index > 0 order by index limit 1) as begins,
  (select count(*) from kaspa.starts) as starts,
  (select count(*) from kaspa.gaps) as gaps
from kaspa.index_status s;
