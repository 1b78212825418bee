-- With which addresses does an address spend together?
--
-- Addresses that are inputs of the same accepted transactions, by frequency, among the latest
-- 10,000 transactions of an address. Usually that means one owner, and clusters are built on it,
-- but strangers can also sign a transaction together. The query uses the address that names the
-- richest cluster; replace it by the one you mean.

with asked as (
  select cluster as address from kaspa.clusters order by balance_sompi desc limit 1
),
own as (
  select transaction_key, accepted_at
  from kaspa.address_transactions
  where address = (select address from asked) and sent_sompi > 0 and is_accepted
  order by transaction_key desc
  limit 10000
)
select
  x.address,
  count(*) as transactions,
  round(sum(x.sent_sompi) / 1e8, 8) as spent_kas,
  max(own.accepted_at) as last_at
from own
  join kaspa.address_transactions x using (transaction_key)
where x.sent_sompi > 0 and x.address <> (select address from asked)
group by x.address
order by transactions desc, x.address
limit 10;
