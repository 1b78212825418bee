-- How much do those hold whose names are known?
--
-- Balances added up by name: clusters with a name, and addresses with a tag of their own outside of such. As good as the tags and
-- the clusters are: an owner has what is known of it, and mostly more.

with named as (
  select name, size as addresses, balance_sompi from kaspa.clusters where name is not null
  union all
  select t.name, 1, a.balance_sompi
  from kaspa.tags t
    join kaspa.addresses a using (address)
    left join kaspa.clusters c on c.cluster = a.cluster
  where c.name is null
)
select
  name,
  sum(addresses) as addresses,
  round(sum(balance_sompi) / 1e8, 8) as balance_kas,
  round(100 * sum(balance_sompi) / (select circulating_sompi from kaspa.index_status), 4) as percent_of_supply
from named
group by name
order by sum(balance_sompi) desc, name
limit 20;
