-- Who holds most?
--
-- The twenty largest balances, with the name of the owner where one is known, and their share of the supply. An address is not a person:
-- the largest mostly belong to exchanges, who hold for many.

select
  row_number() over (order by balance_sompi desc, address) as rank,
  address,
  tag,
  balance_kas,
  round(100 * balance_kas / (select circulating_kas from kaspa.index_status), 4) as percent_of_supply
from kaspa.addresses
where balance_sompi > 0
order by balance_sompi desc, address
limit 20;
