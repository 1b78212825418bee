/** Writes the rows of `balances`. */
import type { ClientBase } from 'pg';
import type { StateChanges } from '../state-changes.ts';
import { BalanceDeltas, isZero } from './balance-deltas.ts';
import { HourlyDeltas, type LastChange, NEVER_CHANGED } from './hourly-changes/hourly-deltas.ts';
import { NEVER_SEEN, type ScriptActivity, ScriptActivityChanges } from './script-activity/replay.ts';

/**
 * The flag of a new row is that of the script's own tag: every member of a cluster has a row
 * already.
 *
 * MERGE, since `on conflict` would lock each row first, and write the lock to the WAL. Nobody else
 * inserts.
 */
export async function writeBalances(client: ClientBase, changes: StateChanges): Promise<void> {
  const { after, stored } = changes.of(ScriptActivityChanges);
  const { last: changed } = changes.of(HourlyDeltas);
  const activityOf = (script: number): ScriptActivity => after.get(script) ?? NEVER_SEEN;
  const lastChangeOf = (script: number): LastChange =>
    changed.get(script) ?? stored.get(script)?.lastChange ?? NEVER_CHANGED;
  // A reorg leaves most rows as they are, since the new chain accepts the same transactions.
  const deltas = changes
    .of(BalanceDeltas)
    .rows()
    .filter(
      (delta) =>
        !isZero(delta) || !isSame(activityOf(delta.script), stored.get(delta.script)) || changed.has(delta.script),
    );
  if (deltas.length === 0) return;
  const activity = deltas.map(({ script }) => activityOf(script));
  const lastChanges = deltas.map(({ script }) => lastChangeOf(script));
  await client.query({
    name: 'change-balances',
    text: `merge into balances b
           using unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[], $5::bigint[],
                        $6::bigint[], $7::bigint[], $8::bigint[], $9::numeric[], $10::numeric[],
                        $11::bigint[], $12::bigint[], $13::bigint[], $14::integer[])
                   changed (script_id, balance, utxo_count, transaction_count, accepted_count,
                            receiving_count, sending_count, coinbase_count, received, sent,
                            first_seen, last_seen, last_change, last_change_hour)
              on b.script_id = changed.script_id
           when matched then update set
             balance = b.balance + changed.balance,
             utxo_count = b.utxo_count + changed.utxo_count,
             transaction_count = b.transaction_count + changed.transaction_count,
             accepted_count = b.accepted_count + changed.accepted_count,
             receiving_count = b.receiving_count + changed.receiving_count,
             sending_count = b.sending_count + changed.sending_count,
             coinbase_count = b.coinbase_count + changed.coinbase_count,
             received = b.received + changed.received,
             sent = b.sent + changed.sent,
             first_seen = changed.first_seen,
             last_seen = changed.last_seen,
             last_change = changed.last_change,
             last_change_hour = changed.last_change_hour
           when not matched then insert (script_id, balance, utxo_count, transaction_count,
             accepted_count, receiving_count, sending_count, coinbase_count, received, sent,
             first_seen, last_seen, last_change, last_change_hour, is_tagged)
             values (changed.script_id, changed.balance, changed.utxo_count,
               changed.transaction_count, changed.accepted_count, changed.receiving_count,
               changed.sending_count, changed.coinbase_count, changed.received, changed.sent,
               changed.first_seen, changed.last_seen, changed.last_change, changed.last_change_hour,
               exists (select from scripts s join tags t on t.address = s.address
                 where s.id = changed.script_id))`,
    values: [
      deltas.map(({ script }) => script),
      deltas.map(({ balance }) => balance),
      deltas.map(({ utxoCount }) => utxoCount),
      deltas.map(({ transactionCount }) => transactionCount),
      deltas.map(({ acceptedCount }) => acceptedCount),
      deltas.map(({ receivingCount }) => receivingCount),
      deltas.map(({ sendingCount }) => sendingCount),
      deltas.map(({ coinbaseCount }) => coinbaseCount),
      deltas.map(({ received }) => received),
      deltas.map(({ sent }) => sent),
      activity.map(({ first }) => first),
      activity.map(({ last }) => last),
      lastChanges.map(({ change }) => change),
      lastChanges.map(({ hour }) => hour),
    ],
  });
}

function isSame(one: ScriptActivity, other: ScriptActivity | undefined): boolean {
  return one.first === other?.first && one.last === other.last;
}

/**
 * Counts transactions outside of a batch.
 * @param scripts those that each transaction touches and did not touch before; all have a balance
 */
export async function countTouched(client: ClientBase, scripts: readonly number[]): Promise<void> {
  await client.query(
    `update balances b set transaction_count = b.transaction_count + touched.count
       from (select id, count(*) as count from unnest($1::bigint[]) id group by id) touched
         where b.script_id = touched.id`,
    [scripts],
  );
}
