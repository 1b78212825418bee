/**
 * State and rollups from all rows, at the end of a first catch-up: coins, balances and what is counted with them, changes by hour, intervals,
 * and the balances of clusters. In a statement each, and any of them again is no harm. A migration to this schema makes the rollups by the
 * same functions of the database (migrations/0004_rollups.sql).
 */
import { inTransaction } from '@kasgres/database';
import type { ClientBase } from 'pg';

export async function makeCoinsAndBalances(client: ClientBase): Promise<void> {
  await makeCoins(client);
  await makeBalances(client);
}

/** Transactions accepted since the latest start: what was accepted before is in its coins. */
const ACCEPTED = `
  accepted as not materialized (
    select t.id, t.subnetwork_id, c.daa_score, c.timestamp / 3600000 as hour
      from transactions t join chain_blocks c on c.block_id = t.accepting_block_id
     where c.index > (select max(chain_index) from starts))`;

/** Coins of the start and of accepted transactions that no accepted transaction spends. */
async function makeCoins(client: ClientBase): Promise<void> {
  await client.query(
    `with ${ACCEPTED},
     made as (
       select transaction_id, index, script_id, amount, block_daa_score, is_coinbase from start_utxos
       union all
       select o.transaction_id, o.index, o.script_id, o.amount, a.daa_score, a.subnetwork_id = 1
         from accepted a join transaction_outputs o on o.transaction_id = a.id)
     insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
     select * from made
      where not exists (
              select from transaction_inputs i join accepted a on a.id = i.transaction_id
               where i.previous_transaction_id = made.transaction_id and i.previous_index = made.index)`,
  );
}

/** Every script that holds a coin or that a transaction touches, in the order of the primary key: so its index grows at one end. */
async function makeBalances(client: ClientBase): Promise<void> {
  await client.query(
    `insert into balances (script_id, balance, utxo_count, transaction_count, accepted_count, receiving_count, sending_count,
       coinbase_count, received, sent, first_seen, last_seen)
     select script_id, coalesce(coins.balance, 0), coalesce(coins.utxo_count, 0), coalesce(touched.transaction_count, 0),
            coalesce(r.accepted_count, 0), coalesce(r.receiving_count, 0), coalesce(r.sending_count, 0), coalesce(r.coinbase_count, 0),
            coalesce(r.received, 0), coalesce(r.sent, 0), r.first_seen, r.last_seen
       from (select script_id, count(*) as transaction_count from address_transactions group by script_id) touched
       full join (select script_id, sum(amount) as balance, count(*) as utxo_count from utxos group by script_id) coins
            using (script_id)
       left join script_rollups() r using (script_id)
      order by script_id`,
  );
}

/**
 * Of the hours since the latest start. In the start's hour, what each script held there beyond what earlier hours sum up to is a change
 * too: they may end before a gap.
 */
export async function makeBalanceChanges(client: ClientBase): Promise<void> {
  await inTransaction(client, async () => {
    const { rows } = await client.query<{ hour: number }>(
      `select (c.timestamp / 3600000)::integer as hour
         from starts join chain_blocks c on c.index = starts.chain_index order by c.index desc limit 1`,
    );
    const hour = (rows[0] as { hour: number }).hour;
    await client.query('delete from balance_changes where hour >= $1', [hour]);
    await client.query(
      `with ${ACCEPTED},
       changes as (
         select script_id, $1::integer as hour, amount as change from start_utxos
         union all
         select script_id, $1, -change from balance_changes
         union all
         select t.script_id, a.hour, t.amount_received - t.amount_sent
           from accepted a join address_transactions t on t.transaction_id = a.id)
       insert into balance_changes (script_id, hour, change)
       select script_id, hour, sum(change) from changes
        group by script_id, hour
       having sum(change) <> 0
        order by script_id, hour
       on conflict (script_id, hour) do update set change = balance_changes.change + excluded.change`,
      [hour],
    );
  });
}

export async function makeNetworkIntervals(client: ClientBase): Promise<void> {
  await client.query('select make_network_intervals()');
}

/** After a gap there may be clusters. Level by level from the roots down. */
const belowRoots = (roots: string): string => `
  recursive members as (
    select id as script_id, id as cluster_id from clusters ${roots}
    union all
    select m.script_id, members.cluster_id from members join cluster_members m on m.parent_id = members.script_id)`;

const MARK_TAGGED = `
  with ${belowRoots('where name is not null')}
  update balances set is_tagged = true
   where script_id in (select s.id from tags t join scripts s on s.address = t.address union select script_id from members)`;

/** Of scripts whose address has a tag of its own, or that are in a cluster with a name. */
export async function markTagged(client: ClientBase): Promise<void> {
  await client.query(MARK_TAGGED);
}

const SUM_CLUSTERS = `
  with ${belowRoots('')},
  sums as (
    select cluster_id, sum(balance) as balance from members join balances using (script_id) group by cluster_id)
  update clusters c set balance = coalesce((select s.balance from sums s where s.cluster_id = c.id), 0)`;

export async function sumClusters(client: ClientBase): Promise<void> {
  await client.query(SUM_CLUSTERS);
}
