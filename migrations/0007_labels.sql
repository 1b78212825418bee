-- Labels that measured behaviour gives. Each rule reads what is kept of one script in balances, and one of them its newest 200
-- transactions: the cost is flat, whatever the script has done. docs/labels.md has the reasons, the limits, and each rule as a query.

create function automatic_labels(of_script_id bigint) returns text[] language sql stable strict parallel safe set search_path = public as $$
  select coalesce(array_agg(rule.label order by rule.label collate "C") filter (where rule.holds), '{}')
    from balances b
   cross join lateral (values
     -- A reward was paid to it: nobody but who mines a block says to whom.
     ('miner', b.coinbase_count > 0),

     -- Paid by more than one transaction.
     ('reused', b.receiving_count > 1),

     -- Holds something that nothing has touched for a year, by the time of the chain.
     ('dormant', b.balance > 0 and b.last_seen < (
       select c.chain_time - 365 * 86400000::bigint from checkpoint p join chain_blocks c on c.index = p.chain_index)),

     -- Is paid less than 1 KAS at a time, and spends at least ten of such coins at once, on average over all that it ever did.
     ('dust-sweeper', b.sending_count >= 3
       and b.received < b.receiving_count * 100000000::numeric
       and b.receiving_count - b.utxo_count >= 10 * b.sending_count),

     -- Five hundred deposits and as many withdrawals in a month or more, and a hundred others in the newest 200 transactions: who paid what
     -- it did not spend from, and who was paid where it did (the first ten inputs or outputs of each count). A deposit is a transaction
     -- that touches it, does not spend from it and is no coinbase.
     ('exchange-like', case when b.accepted_count - b.sending_count - b.coinbase_count >= 500
       and b.sending_count >= 500
       and b.last_seen - b.first_seen >= 30 * 86400000::bigint
     then (
       select count(distinct other.script_id) >= 100
         from (select a.transaction_id, a.amount_sent from address_transactions a
                where a.script_id = of_script_id order by a.transaction_id desc limit 200) newest
         join transactions t on t.id = newest.transaction_id and t.accepting_block_id is not null
        cross join lateral (
          select i.script_id from transaction_inputs i
           where newest.amount_sent = 0 and i.transaction_id = newest.transaction_id and i.index < 10
          union all
          select o.script_id from transaction_outputs o
           where newest.amount_sent > 0 and o.transaction_id = newest.transaction_id and o.index < 10
        ) other
        where other.script_id <> of_script_id
     ) end)
   ) rule (label, holds)
   where b.script_id = of_script_id
$$;
comment on function automatic_labels(bigint) is 'Labels of a script by what it does, sorted; none for a script that nothing accepted has touched. They come and go with the chain, and say nothing of who its owner is.';
