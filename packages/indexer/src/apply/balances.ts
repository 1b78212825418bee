/** The rows of `balances` and `balance_changes` that a batch changes, in a statement each. */
import type { ClientBase } from 'pg';
import type { BalanceChanges } from '../prepare/balance-changes.ts';
import { SELECT_TAGGED_SCRIPTS } from './tagged-scripts.ts';

/** @param firstNewScript scripts from this key on have just been written, and have no row yet */
export async function changeBalances(
  client: ClientBase,
  changes: BalanceChanges,
  firstNewScript: number,
): Promise<void> {
  const scripts = changes.scripts();
  if (scripts.length > 0) {
    await client.query({
      name: 'change-balances',
      text: `insert into balances (script_id, balance, utxo_count, transaction_count, is_tagged)
             select changed.*, changed.script_id in (${SELECT_TAGGED_SCRIPTS} where script_id >= $5)
               from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
                      changed (script_id, balance, utxo_count, transaction_count)
             on conflict (script_id) do update set
               balance = balances.balance + excluded.balance,
               utxo_count = balances.utxo_count + excluded.utxo_count,
               transaction_count = balances.transaction_count + excluded.transaction_count`,
      values: [
        scripts.map(({ script }) => script),
        scripts.map(({ balance }) => balance),
        scripts.map(({ utxoCount }) => utxoCount),
        scripts.map(({ transactionCount }) => transactionCount),
        firstNewScript,
      ],
    });
  }
  const hourly = changes.hourly();
  if (hourly.length > 0) {
    await client.query({
      name: 'change-balances-by-hour',
      text: `insert into balance_changes (script_id, hour, change)
             select * from unnest($1::bigint[], $2::integer[], $3::bigint[])
             on conflict (script_id, hour) do update set change = balance_changes.change + excluded.change`,
      values: [hourly.map(({ script }) => script), hourly.map(({ hour }) => hour), hourly.map(({ change }) => change)],
    });
  }
}
