/** The rows of `balances`, `balance_changes` and `clusters` that a batch changes, in a statement each. */
import type { ClientBase } from 'pg';
import type { BalanceChange, BalanceChanges } from '../prepare/balance-changes.ts';
import { UNSEEN } from '../rollups/sightings.ts';
import type { RollupChanges } from './rollups.ts';

/** What is new gets the mark of its own tag. It is in no cluster: those have spent, and who has spent has a row. */
export async function changeBalances(
  client: ClientBase,
  scripts: readonly BalanceChange[],
  { sightings, newScripts }: Pick<RollupChanges, 'sightings' | 'newScripts'>,
): Promise<void> {
  if (scripts.length === 0) return;
  const seen = scripts.map(({ script }) => sightings.get(script) ?? UNSEEN);
  await client.query({
    name: 'change-balances',
    text: `insert into balances (script_id, balance, utxo_count, transaction_count, accepted_count, receiving_count, sending_count,
             coinbase_count, received, sent, first_seen, last_seen, is_tagged)
           select changed.*, changed.script_id in (
                    select s.id from scripts s join tags t on t.address = s.address where s.id = any($13::bigint[]))
             from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
                         $9::numeric[], $10::numeric[], $11::bigint[], $12::bigint[])
                    changed (script_id)
           on conflict (script_id) do update set
             balance = balances.balance + excluded.balance,
             utxo_count = balances.utxo_count + excluded.utxo_count,
             transaction_count = balances.transaction_count + excluded.transaction_count,
             accepted_count = balances.accepted_count + excluded.accepted_count,
             receiving_count = balances.receiving_count + excluded.receiving_count,
             sending_count = balances.sending_count + excluded.sending_count,
             coinbase_count = balances.coinbase_count + excluded.coinbase_count,
             received = balances.received + excluded.received,
             sent = balances.sent + excluded.sent,
             first_seen = excluded.first_seen,
             last_seen = excluded.last_seen`,
    values: [
      scripts.map(({ script }) => script),
      scripts.map(({ balance }) => balance),
      scripts.map(({ utxoCount }) => utxoCount),
      scripts.map(({ transactionCount }) => transactionCount),
      scripts.map(({ acceptedCount }) => acceptedCount),
      scripts.map(({ receivingCount }) => receivingCount),
      scripts.map(({ sendingCount }) => sendingCount),
      scripts.map(({ coinbaseCount }) => coinbaseCount),
      scripts.map(({ received }) => received),
      scripts.map(({ sent }) => sent),
      seen.map(({ first }) => first),
      seen.map(({ last }) => last),
      newScripts,
    ],
  });
  await changeClusters(client, scripts);
}

export async function changeBalancesByHour(client: ClientBase, changes: BalanceChanges): Promise<void> {
  const hourly = changes.hourly();
  if (hourly.length === 0) return;
  await client.query({
    name: 'change-balances-by-hour',
    text: `insert into balance_changes (script_id, hour, change)
           select * from unnest($1::bigint[], $2::integer[], $3::bigint[])
           on conflict (script_id, hour) do update set change = balance_changes.change + excluded.change`,
    values: [hourly.map(({ script }) => script), hourly.map(({ hour }) => hour), hourly.map(({ change }) => change)],
  });
}

/** The way to the root of a cluster is walked for its members alone. */
async function changeClusters(client: ClientBase, scripts: readonly BalanceChange[]): Promise<void> {
  const changed = scripts.filter(({ balance }) => balance !== 0n);
  if (changed.length === 0) return;
  await client.query({
    name: 'change-clusters',
    text: `update clusters c set balance = c.balance + changed.balance
             from (select cluster_of(m.script_id) as id, sum(changed.balance) as balance
                     from unnest($1::bigint[], $2::bigint[]) changed (script_id, balance)
                     join cluster_members m on m.script_id = changed.script_id
                    group by 1) changed
            where c.id = changed.id and changed.balance <> 0`,
    values: [changed.map(({ script }) => script), changed.map(({ balance }) => balance)],
  });
}
