-- What happened on the network each day?
--
-- One row per UTC day with a block: merged blocks, accepted transactions without coinbases, their
-- fees and volume, and the addresses they touched. Volume counts every output, including change, so
-- it is far more than what changed hands.

select
  (start at time zone 'UTC')::date as day,
  blocks,
  transactions,
  round(fees_kas, 2) as fees_kas,
  round(volume_kas) as volume_kas,
  active_addresses,
  new_addresses
from kaspa.network_days
where blocks > 0
order by start desc
limit 30;
