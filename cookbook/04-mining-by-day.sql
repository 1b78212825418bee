-- How much is mined each day, with what hash rate, and how many blocks are red?
--
-- Red blocks arrived too late to count for the order of the DAG. Their transactions may still be
-- accepted, but their reward goes to the miner who merges them. A rising share means that blocks
-- propagate slowly compared to the block rate. The hash rate is estimated as the work of the merged
-- blocks divided by the elapsed time.

select
  (start at time zone 'UTC')::date as day,
  blocks,
  red_blocks,
  round(100 * red_share, 2) as red_percent,
  round(difficulty::numeric, 2) as difficulty,
  round(hash_rate::numeric) as hashes_per_second
from kaspa.network_days
where blocks > 0
order by start desc
limit 30;
