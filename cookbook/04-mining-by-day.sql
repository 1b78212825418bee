-- How much is mined each day, with what hash rate, and how much of it turns out red?
--
-- Red blocks came too late to count for the order of the DAG: their transactions may still be accepted, their reward goes to whoever
-- merges them. A rising share means that blocks travel slowly compared to how often they are found. The hash rate is the work of the
-- merged blocks by the time it took: an estimate, as every hash rate is.

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
