-- How old are the UTXOs?
--
-- Every UTXO by the time since the block that accepted it. A payment creates new UTXOs, including change, so an owner
-- who spends a little makes the whole remainder young. Unlike dormancy, age cannot be faked by sending dust.

with asked as (
  select array['1 hour', '6 hours', '1 day', '2 days', '7 days', '30 days', '365 days'] as limits,
    (select chain_time from kaspa.chain_blocks order by index desc limit 1) as now
),
-- UTXOs have the DAA score of their block: the lowest score that is within each age limit.
scores as (
  select
    l::interval as age_limit,
    (select daa_score from kaspa.chain_blocks where chain_time >= now - l::interval order by chain_time, index limit 1) as least
  from asked, unnest(limits) as l
),
counted as (
  select
    width_bucket(u.block_daa_score, array(select least from scores order by age_limit desc)) as bucket,
    count(*) as utxos,
    sum(u.amount_sompi) as amount_sompi
  from kaspa.utxos u
  group by 1
)
select
  coalesce('up to ' || limits[8 - bucket], 'longer') as age,
  utxos,
  round(amount_sompi / 1e8, 8) as amount_kas,
  round(100 * amount_sompi / sum(amount_sompi) over (), 2) as percent
from counted, asked
order by bucket desc;
