-- How old are the coins?
--
-- Every unspent output by the time since the block that accepted it. Every payment makes new coins, change included, so an
-- owner who pays somebody a little makes all that is left in the coin young again. Unlike dormancy it cannot be faked by sending dust.

with asked as (
  select array['1 hour', '6 hours', '1 day', '2 days', '7 days', '30 days', '365 days'] as limits,
    (select chain_time from kaspa.chain_blocks order by index desc limit 1) as now
),
-- Coins know the DAA score of their block: the lowest one that is as young as each limit.
scores as (
  select
    l::interval as age_limit,
    (select daa_score from kaspa.chain_blocks where chain_time >= now - l::interval order by chain_time, index limit 1) as least
  from asked, unnest(limits) as l
),
counted as (
  select
    width_bucket(u.block_daa_score, array(select least from scores order by age_limit desc)) as bucket,
    count(*) as coins,
    sum(u.amount_sompi) as amount_sompi
  from kaspa.utxos u
  group by 1
)
select
  coalesce('up to ' || limits[8 - bucket], 'longer') as age,
  coins,
  round(amount_sompi / 1e8, 8) as amount_kas,
  round(100 * amount_sompi / sum(amount_sompi) over (), 2) as percent
from counted, asked
order by bucket desc;
