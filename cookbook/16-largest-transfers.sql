-- What are the largest recent transfers?
--
-- Amounts that transactions of the last 1,000 chain blocks paid to addresses that were not among
-- their senders; outputs back to a sender are change. Change to a new address still looks like a
-- transfer, and so does an exchange that moves its own funds.

with latest as (
  select index as chain_index from kaspa.chain_blocks order by index desc limit 1000
),
recent as materialized (
  select transaction_key
  from latest
    join kaspa.accepted_transactions using (chain_index)
  where not is_coinbase
),
-- Uses keys first, so that ids and addresses are looked up for ten rows only.
largest as materialized (
  select transaction_key, address_key
  from recent
    join kaspa.address_transactions using (transaction_key)
  where not sent_sompi > 0
  order by received_sompi desc, transaction_key, address_key
  limit 10
)
select t.accepted_at, t.transaction_id, t.address as receiver, a.tag, round(t.received_sompi / 1e8, 8) as amount_kas
from largest
  join kaspa.address_transactions t using (transaction_key, address_key)
  left join kaspa.addresses a using (address_key)
order by t.received_sompi desc, transaction_key, address_key;
