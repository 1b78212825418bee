/** Computes the rows of `balances` at the end of the first catch-up. */
import type { ClientBase } from 'pg';

/** How many transactions that are not accepted touch each script. */
const NOT_ACCEPTED = `
  select d.script_id, count(distinct d.transaction_id) as transaction_count
    from transactions t join script_deltas d on d.transaction_id = t.id
   where t.accepting_index is null and d.script_id is not null group by d.script_id`;

/** Inserts in the order of the primary key, so that its index grows at one end. */
export async function rebuildBalances(client: ClientBase): Promise<void> {
  await client.query(
    `insert into balances (script_id, balance, utxo_count, transaction_count, accepted_count,
       receiving_count, sending_count, coinbase_count, received, sent, first_seen, last_seen,
       last_change, last_change_hour)
     select script_id, coalesce(r.balance, 0), coalesce(r.utxo_count, 0),
            coalesce(r.accepted_count, 0) + coalesce(waiting.transaction_count, 0),
            coalesce(r.accepted_count, 0), coalesce(r.receiving_count, 0),
            coalesce(r.sending_count, 0), coalesce(r.coinbase_count, 0), coalesce(r.received, 0),
            coalesce(r.sent, 0), r.first_seen, r.last_seen, coalesce(r.last_change, 0),
            coalesce(r.last_change_hour, 0)
       from script_rollups() r full join (${NOT_ACCEPTED}) waiting using (script_id)
      order by script_id`,
  );
}
