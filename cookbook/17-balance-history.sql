-- How did the balance of an address develop?
--
-- The balance at the end of each day on which it changed. Replace the address, here the richest, by
-- the one you mean. On an index that begins at a pruning point, the first row includes everything
-- that the address held there.

with asked as (
  select address from kaspa.addresses where balance_sompi > 0 order by balance_sompi desc, address limit 1
)
select
  (date_trunc('day', hour, 'UTC') at time zone 'UTC')::date as day,
  sum(change_kas) as change_kas,
  sum(sum(change_kas)) over (order by date_trunc('day', hour, 'UTC')) as balance_kas
from kaspa.address_hours
where address = (select address from asked)
group by date_trunc('day', hour, 'UTC')
order by 1 desc
limit 30;
