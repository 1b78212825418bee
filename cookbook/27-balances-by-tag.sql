-- How much do known owners hold?
--
-- Balances by name: named clusters, and tagged addresses outside of them. The result is as good as
-- the tags and clusters, and usually misses part of an owner's funds.

with named as materialized (
  select cluster, name, size, balance_kas from kaspa.clusters where name is not null
),
owned as (
  select name, size as addresses, balance_kas from named
  union all
  select t.name, 1, a.balance_kas
  from kaspa.tags t
    join kaspa.addresses a using (address)
  where not exists (select from named where named.cluster = a.cluster)
)
select
  name,
  sum(addresses) as addresses,
  sum(balance_kas) as balance_kas,
  round(100 * sum(balance_kas) / (select circulating_kas from kaspa.index_status), 4) as percent_of_supply
from owned
group by name
order by sum(balance_kas) desc, name
limit 20;
