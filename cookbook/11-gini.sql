-- How unequally are coins spread?
--
-- Gini coefficient of all addresses with coins, and what the largest ten, hundred and thousand of them hold. 0: all hold the same; 1: one
-- holds everything. It is of addresses: people with many addresses make it smaller, exchanges larger. Dust weighs as much as
-- anybody here; put a least balance in the place of `> 0` to leave it out.

with ranked as (
  select balance_sompi::float8 as balance, row_number() over (order by balance_sompi desc) as rank
  from kaspa.addresses
  where balance_sompi > 0
),
total as (
  select
    count(*) as holders,
    sum(balance) as balance,
    sum(rank * balance) as weighted,
    sum(balance) filter (where rank <= 10) as of_10,
    sum(balance) filter (where rank <= 100) as of_100,
    sum(balance) filter (where rank <= 1000) as of_1000
  from ranked
)
select
  holders,
  round(((holders + 1 - 2 * weighted / balance) / holders)::numeric, 4) as gini,
  round((100 * of_10 / balance)::numeric, 2) as largest_10_percent,
  round((100 * of_100 / balance)::numeric, 2) as largest_100_percent,
  round((100 * of_1000 / balance)::numeric, 2) as largest_1000_percent
from total;
