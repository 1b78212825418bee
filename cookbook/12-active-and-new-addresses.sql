-- How many addresses are active, and how many are new?
--
-- Addresses touched by accepted transactions of the day, as sender or receiver, and those among
-- them that were never seen before. Wallets create any number of addresses, so neither is a number
-- of people.

select
  (start at time zone 'UTC')::date as day,
  active_addresses,
  new_addresses,
  active_addresses - new_addresses as returning_addresses,
  round(100.0 * new_addresses / nullif(active_addresses, 0), 2) as new_percent
from kaspa.network_days
where blocks > 0
order by start desc
limit 30;
