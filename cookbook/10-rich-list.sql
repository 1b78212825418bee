-- Who holds the most?
--
-- The twenty largest balances with the name of the owner, if known, and their share of the supply.
-- An address is not a person: most of the largest belong to exchanges, which hold for many
-- customers.

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
