-- Who mines?
--
-- Addresses that the coinbases of the last 1,000 chain blocks pay, by the number of outputs they get: one for each blue block of theirs, and
-- one more for whoever merged red ones. An address is where the reward goes: a pool's many miners are one line here, and a miner
-- who changes addresses is many.

with rewards as (
  select o.address, count(*) as outputs, sum(o.amount_kas) as earned_kas
  from kaspa.accepted_transactions a
    join kaspa.outputs o using (transaction_key)
  where a.chain_index > (select max(index) - 1000 from kaspa.chain_blocks) and a.is_coinbase
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
