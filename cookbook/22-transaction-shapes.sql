-- What do transactions look like?
--
-- By the number of inputs and outputs, of the last 1,000 chain blocks, the ten most frequent. One input and two outputs is a
-- payment with change; many inputs and one output gathers small coins; few inputs and many outputs pays out.

with recent as (
  select a.transaction_key
  from kaspa.accepted_transactions a
  where a.chain_index > (select max(index) - 1000 from kaspa.chain_blocks) and not a.is_coinbase
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
