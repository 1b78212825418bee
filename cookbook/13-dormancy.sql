-- How much is held by dormant addresses?
--
-- Addresses with a balance, grouped by the time since an accepted transaction last touched them, relative to the
-- latest block. Receiving counts as activity, so dust sent to an address makes it look active.

with asked as materialized (
  select array['1 hour', '6 hours', '1 day', '2 days', '7 days', '30 days', '365 days'] as limits,
    (select chain_time from kaspa.chain_blocks order by index desc limit 1) as now
),
counted as (
  select
    width_bucket(a.last_seen, array(select now - l::interval from asked, unnest(limits) as l order by 1)) as bucket,
    count(*) filter (where a.balance_sompi > 0) as addresses,
    sum(a.balance_sompi) as balance_sompi
  from kaspa.addresses a
  group by 1
)
select
  coalesce('up to ' || limits[8 - bucket], 'longer') as untouched_for,
  addresses,
  round(balance_sompi / 1e8, 8) as balance_kas,
  round(100 * balance_sompi / sum(balance_sompi) over (), 2) as percent
from counted, asked
where addresses > 0
order by bucket desc;
