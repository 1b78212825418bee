/**
 * State and rollups from all rows, at the end of a first catch-up: UTXOs, balances and what is counted with them, changes by hour, intervals,
 * and the balances of clusters. In a statement each, and any of them again is no harm. A migration to this schema makes the rollups by the
 * same functions of the database (migrations/0004_rollups.sql).
 */
import type { ClientBase } from 'pg';

export async function makeUtxosAndBalances(client: ClientBase): Promise<void> {
  await makeUtxos(client);
  await makeBalances(client);
}

/** Transactions accepted since the latest start: what was accepted before is in its coins. */
const ACCEPTED = `
  accepted as not materialized (
    select t.id, t.subnetwork_id, c.daa_score
      from transactions t join chain_blocks c on c.block_id = t.accepting_block_id
     where c.index > (select max(chain_index) from starts))`;

/** UTXOs of the start and of accepted transactions that no accepted transaction spends. */
async function makeUtxos(client: ClientBase): Promise<void> {
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

/** Every script that a transaction touches or that held a UTXO at a start, in the order of the primary key: so its index grows at one end. */
async function makeBalances(client: ClientBase): Promise<void> {
  await client.query(
    `insert into balances (script_id, balance, utxo_count, transaction_count, accepted_count, receiving_count, sending_count,
       coinbase_count, received, sent, first_seen, last_seen)
     select script_id, coalesce(utxos.balance, 0), coalesce(utxos.utxo_count, 0), coalesce(touched.transaction_count, 0),
            coalesce(r.accepted_count, 0), coalesce(r.receiving_count, 0), coalesce(r.sending_count, 0), coalesce(r.coinbase_count, 0),
            coalesce(r.received, 0), coalesce(r.sent, 0), r.first_seen, r.last_seen
       from (select script_id, count(*) as transaction_count from address_transactions group by script_id) touched
       full join (select script_id, sum(amount) as balance, count(*) as utxo_count from utxos group by script_id) utxos
            using (script_id)
       full join script_rollups() r using (script_id)
      order by script_id`,
  );
}

/** From all rows: what an attempt before has committed is replaced. */
export async function makeBalanceChanges(client: ClientBase): Promise<void> {
  await client.query('select make_balance_changes()');
}

export async function makeNetworkIntervals(client: ClientBase): Promise<void> {
  await client.query('select make_network_intervals()');
}

/** There are clusters where an earlier version began to catch up after a gap. Level by level from the roots down. */
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
