-- How old are the UTXOs?
--
-- Every UTXO by the time since the block that accepted it. A payment creates new UTXOs, including
-- change, so an owner who spends a little makes the whole remainder young. Unlike dormancy, age
-- cannot be faked by sending dust. Blocks before the latest start have no time in the index, so
-- UTXOs that are older than that are not told apart.

with history as (
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
-- UTXOs have the DAA score of their block: the lowest score that is within each age limit.
scores as (
  select
    age,
    (select daa_score from kaspa.chain_blocks where chain_time >= ends - age order by chain_time, index limit 1) as least
  from history, limits
),
counted as (
  select
    width_bucket(u.block_daa_score, array(select least from scores order by age desc)) as bucket,
    count(*) as utxos,
    sum(u.amount_sompi) as amount_sompi
  from kaspa.utxos u
  group by 1
)
select
  coalesce('up to ' || (array(select label from limits order by age desc))[bucket], 'longer') as age,
  utxos,
  round(amount_sompi / 1e8, 8) as amount_kas,
  round(100 * amount_sompi / sum(amount_sompi) over (), 2) as percent
from counted
order by bucket desc;
