-- How fresh and how complete is what I see?
--
-- The latest block that is indexed and its age, where the index begins, and whether anything is missing in between. Everything that the
-- other answers say is as of this block. An age of minutes means that the indexer, or its node, is behind: docs/operations.md.

select
  s.network,
  s.blue_score,
  s.time as latest_block,
  now() - s.time as age,
  s.first_catch_up,
  (select min(time) from kaspa.chain_blocks where index = 1) as begins,
  (select count(*) from kaspa.starts) as starts,
  (select count(*) from kaspa.gaps) as gaps
from kaspa.index_status s;
