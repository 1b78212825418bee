-- Which KRC-20 tokens are used?
--
-- Operations by tick: what transactions state, in their payload or in a program that an input
-- reveals. Whether one is valid depends on all operations since 2024, which only the indexer of the
-- protocol knows, so this counts use and not ownership.

select
  tick,
  count(*) as operations,
  count(*) filter (where operation = 'mint') as mints,
  count(*) filter (where operation = 'transfer') as transfers,
  count(distinct address_key) as senders
from kaspa.inscriptions
where protocol = 'krc-20' and tick is not null
group by tick
order by operations desc, tick
limit 20;
