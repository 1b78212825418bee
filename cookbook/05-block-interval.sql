-- How long are the intervals between chain blocks?
--
-- Seconds between consecutive chain blocks among the last 1,000, by the times that their miners
-- wrote. Clocks differ, so an interval may be negative. Blocks beside the chain are not included: a
-- chain block merges those of about the same time.

with pauses as (
  select extract(epoch from time - lag(time) over (order by index)) as seconds
  from (select index, time from kaspa.chain_blocks order by index desc limit 1001) latest
)
select
  count(seconds) as pauses,
  round(avg(seconds), 3) as average,
  round(percentile_disc(0.1) within group (order by seconds), 3) as p10,
  round(percentile_disc(0.5) within group (order by seconds), 3) as p50,
  round(percentile_disc(0.9) within group (order by seconds), 3) as p90,
  round(percentile_disc(0.99) within group (order by seconds), 3) as p99,
  round(max(seconds), 3) as longest
from pauses;
