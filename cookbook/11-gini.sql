-- How unequal is the distribution?
--
-- Gini coefficient of all addresses with a balance, and the share of the largest ten, hundred and
-- thousand. 0 means that all hold the same, 1 that one address holds everything. People with many
-- addresses lower it, exchanges raise it. Dust counts like any other balance; replace `> 0` by a
-- minimum to exclude it.

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
