-- How many addresses are in use, and how many of them are new?
--
-- Addresses that accepted transactions of the day touch, on either side, and those among them that were never seen before. Wallets
-- make addresses as they like: neither is a number of people.

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
