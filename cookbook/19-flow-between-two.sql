-- What went from one address to another, and back?
--
-- Accepted transactions that one of the two pays and that have outputs to the other: how many, and the sum of these outputs. Asked
-- for the two that send most often; put in those you mean. Where others pay with it in one transaction, all of the
-- output counts: coins have no owner inside a transaction. Payments through a third address are not seen.

with asked as (
  select busiest[1] as one, busiest[2] as other
  from (
    select array(select address from kaspa.addresses order by sending_count desc, address limit 2) as busiest
  ) addresses
),
directions as (
  select one as sender, other as receiver from asked
  union all
  select other, one from asked
)
select
  d.sender,
  d.receiver,
  count(*) as transactions,
  round(sum(r.received_sompi) / 1e8, 8) as paid_kas,
  min(r.accepted_at) as first_at,
  max(r.accepted_at) as last_at
from directions d
  join kaspa.address_transactions s on s.address = d.sender and s.sent_sompi > 0
  join kaspa.address_transactions r on r.address = d.receiver and r.transaction_key = s.transaction_key
where r.received_sompi > 0 and r.is_accepted
group by d.sender, d.receiver
order by d.sender;
