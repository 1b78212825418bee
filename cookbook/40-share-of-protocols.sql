-- What share of transactions belongs to each protocol?
--
-- Accepted transactions with an operation of each protocol by day, and their share of all accepted
-- transactions of the day without coinbases. The shares of a day may add up to more than 100, since
-- a transaction may be of two protocols.

select
  (n.start at time zone 'UTC')::date as day,
  p.protocol,
  sum(p.transactions)::bigint as transactions,
  round(100 * sum(p.transactions) / n.transactions, 2) as percent
from kaspa.network_days n
  join kaspa.protocol_hours p on p.hour >= n.start and p.hour < n.start + interval '1 day'
where n.transactions > 0
group by n.start, n.transactions, p.protocol
order by day desc, transactions desc, p.protocol
limit 100;
