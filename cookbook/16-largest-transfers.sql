-- What are the largest recent transfers?
--
-- What transactions of the last 1,000 chain blocks paid to addresses that do not pay for it themselves: what goes back to a sender is
-- change. Change to a new address still looks like a transfer, and an exchange that moves its own coins like a large one.

with recent as (
  select a.transaction_key, a.transaction_id, a.accepted_at
  from kaspa.accepted_transactions a
  where a.chain_index > (select max(index) - 1000 from kaspa.chain_blocks) and not a.is_coinbase
),
transfers as (
  select r.accepted_at, r.transaction_id, x.address, x.received_sompi
  from recent r
    join kaspa.address_transactions x using (transaction_key)
  where x.sent_sompi = 0 and x.address is not null
  order by x.received_sompi desc, r.transaction_id, x.address
  limit 10
)
select t.accepted_at, t.transaction_id, t.address as receiver, a.tag, round(t.received_sompi / 1e8, 8) as amount_kas
from transfers t
  left join kaspa.addresses a using (address)
order by t.received_sompi desc, t.transaction_id, t.address;
