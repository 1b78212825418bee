-- What is the velocity of KAS?
--
-- Volume of each day divided by the supply at its end: how often the average KAS moved. Volume
-- includes change, which cannot be recognised reliably, so this is an upper bound. A single
-- exchange that moves its own funds can double it.

select
  (start at time zone 'UTC')::date as day,
  round(volume_kas) as volume_kas,
  round(supply_kas) as supply_kas,
  round(volume_kas / nullif(supply_kas, 0), 4) as turnover
from kaspa.network_days
where blocks > 0
order by start desc
limit 30;
