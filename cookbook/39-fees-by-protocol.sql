-- Which protocols pay the most fees?
--
-- Accepted transactions that state an operation of each protocol, and their fees. A transaction of
-- two protocols counts for both.

select
  protocol,
  sum(transactions)::bigint as transactions,
  sum(fees_kas)::numeric(38,8) as fees_kas,
  round(sum(fees_kas) / sum(transactions), 8)::numeric(38,8) as fee_per_transaction_kas
from kaspa.protocol_hours
group by protocol
order by fees_kas desc, protocol;
