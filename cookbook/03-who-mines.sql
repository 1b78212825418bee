-- Who mines?
--
-- Addresses paid by the coinbases of the last 1,000 chain blocks, by number of outputs: one for
-- each blue block, and one more for the miner who merged red blocks. An address is where the reward
-- goes: a pool is one row here, and a miner who changes addresses is many.

with latest as (
  select index as chain_index from kaspa.chain_blocks order by index desc limit 1000
),
coinbases as materialized (
  select transaction_key
  from latest
    join kaspa.accepted_transactions using (chain_index)
  where is_coinbase
),
rewards as (
  select o.address, count(*) as outputs, sum(o.amount_kas) as earned_kas
  from coinbases
    join kaspa.outputs o using (transaction_key)
  group by o.address
)
select
  r.address,
  a.tag,
  r.outputs,
  round(100 * r.outputs / sum(r.outputs) over (), 2) as percent,
  r.earned_kas
from rewards r
  left join kaspa.addresses a using (address)
order by r.outputs desc, r.address
limit 20;
