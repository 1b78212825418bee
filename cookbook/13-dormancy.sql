-- How much is held by dormant addresses?
--
-- Addresses with a balance, grouped by the time since an accepted transaction last touched them,
-- relative to the latest block. Receiving counts as activity, so dust sent to an address makes it
-- look active. Addresses that were not touched since the latest start are not told apart, because
-- what happened before it is not indexed.

with history as materialized (
  select
    (select chain_time from kaspa.chain_blocks order by index desc limit 1) as ends,
    (select chain_time from kaspa.chain_blocks where index = (select max(chain_index) from kaspa.starts)) as begins
),
limits as (
  select distinct least(l::interval, known) as age, case when l::interval < known then l else known::text end as label
  from history,
    date_trunc('second', ends - begins - interval '1 millisecond') as known,
    unnest(array['1 hour', '6 hours', '1 day', '2 days', '7 days', '30 days', '365 days']) as l
),
counted as (
  select
    width_bucket(a.last_seen, array(select ends - age from history, limits order by age desc)) as bucket,
    count(*) filter (where a.balance_sompi > 0) as addresses,
    sum(a.balance_sompi) as balance_sompi
  from kaspa.addresses a
  group by 1
)
select
  coalesce('up to ' || (array(select label from limits order by age desc))[bucket], 'longer') as untouched_for,
  addresses,
  round(balance_sompi / 1e8, 8) as balance_kas,
  round(100 * balance_sompi / sum(balance_sompi) over (), 2) as percent
from counted
where addresses > 0
order by bucket desc;
