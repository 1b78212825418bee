-- How many coins are there, and how fast do they become more?
--
-- Circulating supply at the end of each day, and by how much it grew. The yearly rate supposes that every day is like this one.
-- Coins whose keys are lost count as circulating: nobody can tell them apart.

select
  (start at time zone 'UTC')::date as day,
  supply_kas,
  minted_kas,
  round(100 * minted_kas / nullif(supply_kas - minted_kas, 0), 4) as growth_percent,
  round(365 * 100 * minted_kas / nullif(supply_kas - minted_kas, 0), 2) as yearly_percent
from kaspa.network_days
where blocks > 0
order by start desc
limit 30;
