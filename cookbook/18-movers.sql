-- What did the largest holders do within a day?
--
-- The ten largest current balances and their values a day before the latest block. An address that
-- sold everything within that day is no longer among them.

with richest as (
  select address, tag, balance_sompi, balance_kas
  from kaspa.addresses
  where balance_sompi > 0
  order by balance_sompi desc, address
  limit 10
)
select
  r.address,
  r.tag,
  r.balance_kas,
  round((r.balance_sompi - earlier.sompi) / 1e8, 8) as change_kas,
  round(100 * (r.balance_sompi - earlier.sompi) / nullif(earlier.sompi, 0), 2) as change_percent
from richest r
  cross join lateral (
    select kaspa.balance_at(r.address, (select chain_time - interval '1 day' from kaspa.chain_blocks order by index desc limit 1)) as sompi
  ) earlier
order by r.balance_sompi desc, r.address;
