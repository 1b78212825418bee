-- What are the states of a covenant?
--
-- A row for each UTXO that an accepted transaction created in the covenant, and for each burn,
-- which creates none. The P2SH script of a UTXO commits to a program, the state; its template is
-- known once a spend has revealed it. Replace the covenant, here the busiest of the last 1,000
-- events, by the one you mean. UTXOs from before the index have no row.

with asked as (
  select covenant_id
  from (
    select covenant_id from kaspa.covenant_events order by chain_index desc, position desc limit 1000
  ) recent
  group by covenant_id
  order by count(*) desc, covenant_id
  limit 1
)
select
  e.time,
  e.kind,
  e.transaction_id,
  o.index as output,
  o.amount_kas,
  case when o.script_type = 'scripthash' then substr(o.script, 5, 64) end as program,
  p.template,
  o.spent_by
from kaspa.covenant_events e
  left join kaspa.outputs o on o.transaction_key = e.transaction_key and o.covenant_id = e.covenant_id
  left join kaspa.programs p
    on p.hash = case when o.script_type = 'scripthash' then substr(o.script, 5, 64) end
where e.covenant_id = (select covenant_id from asked)
order by e.chain_index desc, e.position desc, o.index
limit 100;
