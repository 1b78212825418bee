-- How often are addresses used again?
--
-- Addresses by the number of accepted transactions that paid them. Every use after the first ties the owner's payments together for all to
-- see. Miners are paid by every block of theirs: leave them out with `and coinbase_count = 0`. Every address there is is read, in the
-- database of the times 1.8 million of them, which is what takes a second.

with counted as (
  select
    width_bucket(receiving_count, array[1, 2, 3, 6, 11, 101]) as bucket,
    count(*) as addresses,
    sum(received_sompi) as received_sompi
  from kaspa.addresses
  where receiving_count > 0
  group by 1
)
select
  (array['once', 'twice', '3 to 5 times', '6 to 10 times', '11 to 100 times', 'more often'])[bucket] as paid,
  addresses,
  round(100 * addresses / sum(addresses) over (), 2) as percent,
  round(received_sompi / 1e8, 8) as received_kas
from counted
order by bucket;
