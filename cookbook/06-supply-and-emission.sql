-- What is the supply, and how fast does it grow?
--
-- Circulating supply at the end of each day, and the growth during that day. The yearly rate
-- assumes that every day is like this one. Funds whose keys are lost count as circulating, because
-- nobody can tell them apart.

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
