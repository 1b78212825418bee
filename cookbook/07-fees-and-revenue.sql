-- What do users pay, and what do miners live on?
--
-- Fees of each day, the average of a transaction, and their share in what miners earn (new coins and fees). The share is what miners
-- would be left with if no coins were made any more, at today's use.

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
