-- What do users pay, and what do miners earn?
--
-- Fees of each day, the average per transaction, and the share of fees in the miners' revenue
-- (emission and fees). That share is the revenue that would remain without emission, at today's
-- use.

select
  (start at time zone 'UTC')::date as day,
  fees_kas,
  round(fees_kas / nullif(transactions, 0), 8) as fee_per_transaction_kas,
  minted_kas,
  round(100 * fees_kas / nullif(fees_kas + minted_kas, 0), 4) as fees_percent_of_revenue
from kaspa.network_days
where blocks > 0
order by start desc
limit 30;
