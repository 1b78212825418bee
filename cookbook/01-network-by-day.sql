-- What happened on the network each day?
--
-- One row a day (UTC) that had a block: blocks that the chain merged, transactions that it accepted other than coinbases, what they paid in
-- fees and moved, and the addresses they touched. Volume counts every output, change included, so it is far more than what changed hands.

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
