-- What moved between two addresses?
--
-- Accepted transactions that one of the two addresses funds and that have outputs to the other:
-- their number and the sum of these outputs. The query uses the two richest addresses; replace
-- them, the one with fewer transactions first, because all of its transactions are read. If others
-- fund the same transaction, its outputs still count in full. Transfers through a third address are
-- not included.

with richest as (
  select address, address_key, row_number() over (order by balance_sompi desc) as place
  from kaspa.addresses
  where balance_sompi > 0
  order by balance_sompi desc
  limit 2
),
asked as materialized (
  select one.address as one, one.address_key as one_key, other.address as other, other.address_key as other_key
  from richest one
    join richest other on one.place = 1 and other.place = 2
),
shared as materialized (
  select
    a.accepted_at,
    a.sent_sompi as one_sent,
    a.received_sompi as one_received,
    b.sent_sompi as other_sent,
    b.received_sompi as other_received
  from kaspa.address_transactions a
    join kaspa.address_transactions b using (transaction_key)
  where a.address_key = (select one_key from asked) and b.address_key = (select other_key from asked) and a.is_accepted
),
paid as (
  select one as sender, other as receiver, other_received as sompi, accepted_at
  from shared, asked
  where one_sent > 0 and other_received > 0
  union all
  select other, one, one_received, accepted_at
  from shared, asked
  where other_sent > 0 and one_received > 0
)
select
  sender,
  receiver,
  count(*) as transactions,
  round(sum(sompi) / 1e8, 8) as paid_kas,
  min(accepted_at) as first_at,
  max(accepted_at) as last_at
from paid
group by sender, receiver
order by sender;
