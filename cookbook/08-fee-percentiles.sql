-- How large are fees and transactions?
--
-- Percentiles over the transactions that the last 1,000 chain blocks accepted, without coinbases.
-- Each column is separate, so a row is not one transaction. The fee rate is the fee divided by the
-- larger of compute and storage mass, in sompi per gram; miners choose by it.

with latest as (
  select index as chain_index from kaspa.chain_blocks order by index desc limit 1000
),
recent as materialized (
  select t.fee_sompi, t.fee_sompi / greatest(t.compute_mass, t.storage_mass, 1)::numeric as fee_rate, t.compute_mass, t.storage_mass
  from latest
    join kaspa.accepted_transactions a using (chain_index)
    join kaspa.transactions t using (transaction_key)
  where not a.is_coinbase
)
select
  unnest(array[1, 10, 25, 50, 75, 90, 99, 100]) as percentile,
  unnest(percentile_disc(array[0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]) within group (order by fee_sompi)) as fee_sompi,
  round(unnest(percentile_disc(array[0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]) within group (order by fee_rate)), 2) as sompi_per_gram,
  unnest(percentile_disc(array[0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]) within group (order by compute_mass)) as compute_mass,
  unnest(percentile_disc(array[0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]) within group (order by storage_mass)) as storage_mass
from recent;
