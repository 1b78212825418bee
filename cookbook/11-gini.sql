-- How unequally are coins spread?
--
-- Gini coefficient of all addresses with coins, and what the largest ten, hundred and one in a hundred of them hold. 0: all hold the same;
-- 1: one holds everything. It is of addresses: people with many addresses make it smaller, exchanges larger. Dust weighs as
-- much as anybody here; add `and balance_kas >= 1` to leave it out.

with ranked as (
  select balance_sompi::float8 as balance, row_number() over (order by balance_sompi desc) as rank
  from kaspa.addresses
  where balance_sompi > 0
),
total as (
  select count(*) as holders, sum(balance) as balance, sum(rank * balance) as weighted from ranked
)
select
  t.holders,
  round(((t.holders + 1 - 2 * t.weighted / t.balance) / t.holders)::numeric, 4) as gini,
  round((100 * (select sum(balance) from ranked where rank <= 10) / t.balance)::numeric, 2) as largest_10_percent,
  round((100 * (select sum(balance) from ranked where rank <= 100) / t.balance)::numeric, 2) as largest_100_percent,
  round((100 * (select sum(balance) from ranked where rank <= ceil(t.holders / 100.0)) / t.balance)::numeric, 2) as largest_hundredth_percent
from total t;
