-- Which transactions were never accepted, and why?
--
-- Transactions in blocks that the last 1,000 chain blocks merged, without coinbases. Usually
-- another transaction spent the same UTXO first. The rest was invalid where it was mined, or
-- depends on a transaction that was not accepted. None of them changed a balance.

with latest as (
  select index as chain_index from kaspa.chain_blocks order by index desc limit 1000
),
carried as materialized (
  select distinct c.transaction_key
  from latest
    join kaspa.mergesets m using (chain_index)
    join kaspa.block_transactions c using (block_key)
  where c.index > 0
),
judged as (
  select
    case
      when t.acceptance = 'accepted' then 'accepted'
      when exists (
        select
        from kaspa.inputs i
          join kaspa.inputs other using (previous_transaction_key, previous_index)
        where i.transaction_key = c.transaction_key and other.is_accepted
      ) then 'a UTXO was spent by another'
      else 'not valid otherwise'
    end as outcome
  from carried c
    join kaspa.transactions t using (transaction_key)
)
select outcome, count(*) as transactions, round(100 * count(*) / sum(count(*)) over (), 3) as percent
from judged
group by outcome
order by transactions desc, outcome;
