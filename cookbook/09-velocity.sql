-- How often does a coin change hands?
--
-- Volume of each day by the supply at its end: how often the average coin moved. Outputs that go back to their sender as change are in the
-- volume and nobody can tell all of them, so this is an upper bound, and one exchange that shuffles its coins can double it.

select
  (start at time zone 'UTC')::date as day,
  round(volume_kas) as volume_kas,
  round(supply_kas) as supply_kas,
  round(volume_kas / nullif(supply_kas, 0), 4) as turnover
from kaspa.network_days
where blocks > 0
order by start desc
limit 30;
