import { BALANCES, copyAll, type CopyRowOf } from '@kasgres/database';
import type { ClientBase } from 'pg';
import type { DerivedState } from '../derived-state.ts';
import type { ScriptTotal } from '../first-catch-up/chain-totals.ts';
import { NEVER_SEEN, type ScriptActivity, ScriptActivityChanges } from '../script-activity/replay.ts';
import { HourlyDeltas, type LastChange, NEVER_CHANGED } from '../hourly-balance-changes/hourly-deltas.ts';
import { BalanceDeltas, isZero } from './balance-deltas.ts';
import { verifyBalances, verifyCurrentBalances } from './verify.ts';

/** How many transactions that are not accepted touch each script. */
const NOT_ACCEPTED = `
  select d.script_id, count(distinct d.transaction_id) as transaction_count
    from transactions t join script_deltas d on d.transaction_id = t.id
   where t.accepting_index is null and d.script_id is not null group by d.script_id`;

export const balances: DerivedState = {
  name: 'balances',
  appliesAfterReads: true,
  emptied: ['balances', 'unmerged_touches'],
  deferredIndexes: ['balances_balance', 'balances_tagged'],
  verify: { 4: verifyBalances },
  verifyCurrent: verifyCurrentBalances,

  collect(item, changes) {
    if (item.kind === 'accepted') changes.of(BalanceDeltas).add(item.transaction, 1);
    else if (item.kind === 'touched') changes.of(BalanceDeltas).addTouched(item.scripts);
  },

  revert(removed, changes) {
    const deltas = changes.of(BalanceDeltas);
    for (const { transactions } of removed) for (const transaction of transactions) deltas.add(transaction, -1);
  },

  /**
   * Also writes the script activity, the change of the latest hour and, for new rows, the tag flag of the script's own tag. Every member of a
   * cluster has a row already.
   *
   * MERGE, since `on conflict` would lock each row first, and write the lock to the WAL. Nobody else inserts.
   */
  async apply(client, changes) {
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
             using unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
                          $9::numeric[], $10::numeric[], $11::bigint[], $12::bigint[], $13::bigint[], $14::integer[])
                     changed (script_id, balance, utxo_count, transaction_count, accepted_count, receiving_count, sending_count,
                              coinbase_count, received, sent, first_seen, last_seen, last_change, last_change_hour)
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
             when not matched then insert (script_id, balance, utxo_count, transaction_count, accepted_count, receiving_count,
               sending_count, coinbase_count, received, sent, first_seen, last_seen, last_change, last_change_hour, is_tagged)
               values (changed.script_id, changed.balance, changed.utxo_count, changed.transaction_count, changed.accepted_count,
                 changed.receiving_count, changed.sending_count, changed.coinbase_count, changed.received, changed.sent,
                 changed.first_seen, changed.last_seen, changed.last_change, changed.last_change_hour,
                 exists (select from scripts s join tags t on t.address = s.address where s.id = changed.script_id))`,
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
  },

  /** Inserts in the order of the primary key, so that its index grows at one end. Includes the script activity and the latest hours. */
  async rebuildFromDeltas(client) {
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
  },

  async rebuildFromTotals(client, { chain }) {
    await copyAll(client, BALANCES, rowsOf(chain.scripts()));
    await client.query(
      `insert into balances (script_id, balance, transaction_count)
       select script_id, 0, transaction_count from (${NOT_ACCEPTED}) touched
       on conflict (script_id) do update set transaction_count = balances.transaction_count + excluded.transaction_count`,
    );
  },
};

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

function isSame(one: ScriptActivity, other: ScriptActivity | undefined): boolean {
  return one.first === other?.first && one.last === other.last;
}

/** Counts transactions outside of a batch. @param scripts those that each transaction touches and did not touch before; all have a balance */
export async function countTouched(client: ClientBase, scripts: readonly number[]): Promise<void> {
  await client.query(
    `update balances b set transaction_count = b.transaction_count + touched.count
       from (select id, count(*) as count from unnest($1::bigint[]) id group by id) touched where b.script_id = touched.id`,
    [scripts],
  );
}
