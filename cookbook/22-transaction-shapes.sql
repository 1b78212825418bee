-- What do transactions look like?
--
-- The ten most frequent combinations of input and output counts in the last 1,000 chain blocks. One
-- input and two outputs are a payment with change; many inputs and one output consolidate UTXOs;
-- few inputs and many outputs are payouts.

with latest as (
  select index as chain_index from kaspa.chain_blocks order by index desc limit 1000
),
recent as materialized (
  select a.transaction_key
  from latest
    join kaspa.accepted_transactions a using (chain_index)
  where not a.is_coinbase
),
shapes as (
  select
    (select count(*) from kaspa.inputs i where i.transaction_key = r.transaction_key) as inputs,
    (select count(*) from kaspa.outputs o where o.transaction_key = r.transaction_key) as outputs
  from recent r
)
select inputs, outputs, count(*) as transactions, round(100 * count(*) / sum(count(*)) over (), 2) as percent
from shapes
group by inputs, outputs
order by transactions desc, inputs, outputs
limit 10;
