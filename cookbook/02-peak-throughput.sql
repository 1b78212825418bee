-- How many transactions per second are there, on average and in the busiest minute?
--
-- Accepted transactions of the last indexed day, without coinbases. Duplicates and lost double
-- spends do not count. The figures show what the network did, not what it could do.

with minutes as (
  select start, transactions
  from kaspa.network_minutes
  where start > (select max(start) - interval '1 day' from kaspa.network_minutes)
)
select
  sum(transactions) as transactions,
  round(sum(transactions) / (extract(epoch from max(start) - min(start)) + 60), 3) as average_per_second,
  round(percentile_disc(0.5) within group (order by transactions) / 60.0, 3) as median_minute_per_second,
  round(max(transactions) / 60.0, 3) as busiest_minute_per_second,
  (array_agg(start order by transactions desc, start))[1] as busiest_minute
from minutes;
