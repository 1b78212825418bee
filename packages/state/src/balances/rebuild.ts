/** Computes the rows of `balances` at the end of the first catch-up. */
import { BALANCES, copyAll, type CopyRowOf } from '@kasgres/database';
import type { ClientBase } from 'pg';
import type { CatchUpTotals } from '../derived-state.ts';
import type { ScriptTotal } from '../first-catch-up/chain-totals.ts';

/** How many transactions that are not accepted touch each script. */
const NOT_ACCEPTED = `
  select d.script_id, count(distinct d.transaction_id) as transaction_count
    from transactions t join script_deltas d on d.transaction_id = t.id
   where t.accepting_index is null and d.script_id is not null group by d.script_id`;

/** Inserts in the order of the primary key, so that its index grows at one end. */
export async function rebuildBalances(client: ClientBase): Promise<void> {
  await client.query(
    `insert into balances (script_id, balance, utxo_count, transaction_count, accepted_count, receiving_count, sending_count,
       coinbase_count, received, sent, first_seen, last_seen, last_change, last_change_hour)
     select script_id, coalesce(utxos.balance, 0), coalesce(utxos.utxo_count, 0), coalesce(r.accepted_count, 0) + coalesce(waiting.transaction_count, 0),
            coalesce(r.accepted_count, 0), coalesce(r.receiving_count, 0), coalesce(r.sending_count, 0), coalesce(r.coinbase_count, 0),
            coalesce(r.received, 0), coalesce(r.sent, 0), r.first_seen, r.last_seen,
            coalesce(latest.change, 0), coalesce(latest.hour, 0)
       from (${NOT_ACCEPTED}) waiting
       full join (select script_id, sum(amount) as balance, count(*) as utxo_count from utxos group by script_id) utxos
            using (script_id)
       full join script_rollups() r using (script_id)
       full join (select script_id, hour, change from hourly_balance_changes() where is_latest) latest using (script_id)
      order by script_id`,
  );
}

export async function copyBalances(client: ClientBase, { chain }: CatchUpTotals): Promise<void> {
  await copyAll(client, BALANCES, rowsOf(chain.scripts()));
  await client.query(
    `insert into balances (script_id, balance, transaction_count)
     select script_id, 0, transaction_count from (${NOT_ACCEPTED}) touched
     on conflict (script_id) do update set transaction_count = balances.transaction_count + excluded.transaction_count`,
  );
}

function* rowsOf(totals: Iterable<ScriptTotal>): Generator<CopyRowOf<typeof BALANCES>> {
  for (const total of totals) {
    const acceptedCount = BigInt(total.acceptedCount);
    yield {
      script_id: total.script,
      balance: total.received - total.sent,
      first_seen: total.firstSeen,
      last_seen: total.lastSeen,
      last_change: total.lastChange,
      last_change_hour: total.lastChangeHour,
      utxo_count: total.utxoCount,
      transaction_count: acceptedCount,
      accepted_count: acceptedCount,
      receiving_count: BigInt(total.receivingCount),
      sending_count: BigInt(total.sendingCount),
      coinbase_count: BigInt(total.coinbaseCount),
      received: total.received,
      sent: total.sent,
    };
  }
}
