/**
 * The first catch-up writes rows and leaves to its end what is cheaper made at once: indexes that only questions need, the
 * coins and the balances. Which indexes are missing, and how they are made, stands in `deferred_indexes`, so that a crash at
 * any moment leaves a database that the next start can finish.
 */
import type { ClientBase } from 'pg';
import { inTransaction } from './in-transaction.ts';
import { resolveAllLateInputs } from './late-inputs.ts';
import { SELECT_TAGGED_SCRIPTS } from './tagged-scripts.ts';

/** Needed to recall what the memory forgot; built as soon as it does not know everything. */
const LOOK_UP_INDEXES = ['transactions_transaction_id', 'scripts_script'];
/** Needed by questions only. The largest comes first, so that connections that share them out end together. */
const QUESTION_INDEXES = [
  'address_transactions_script_id',
  'transaction_inputs_previous_transaction_id',
  'transactions_transaction_id_text',
  'block_transactions_transaction_id',
  'address_transactions_transaction_id',
  'scripts_address',
  'blocks_hash_text',
  'blocks_daa_score',
  'blocks_time',
  'chain_blocks_time',
  'chain_blocks_chain_time',
];
/** On tables that only the end fills. */
const COIN_INDEXES = ['utxos_script_id', 'balances_balance', 'balances_tagged'];

/** Only added to while catching up: vacuuming and analysing them meanwhile would be done again at the end. Slowest to analyse first. */
const GROWING_TABLES = [
  'transactions',
  'transaction_inputs',
  'scripts',
  'blocks',
  'address_transactions',
  'transaction_outputs',
  'block_transactions',
  'block_parents',
  'chain_blocks',
];
/** Made anew at the end. */
const COIN_TABLES = ['utxos', 'balances', 'seen_before'];
/** For the joins that make them. */
const WORK_MEMORY = '128MB';

/** Drops the indexes that can wait. Only on an empty database; again is no harm. */
export async function deferIndexes(client: ClientBase): Promise<void> {
  const names = [...LOOK_UP_INDEXES, ...QUESTION_INDEXES, ...COIN_INDEXES];
  await client.query(
    `insert into deferred_indexes (name, definition)
     select indexname, indexdef from pg_indexes where schemaname = 'public' and indexname = any($1)`,
    [names],
  );
  for (const name of names) await client.query(`drop index if exists ${name}`);
  for (const table of GROWING_TABLES) await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
}

/** Builds what recall needs. */
export async function buildLookUpIndexes(client: ClientBase): Promise<void> {
  for (const name of LOOK_UP_INDEXES) await buildIndex(client, name);
}

/**
 * Ends the first catch-up: builds the indexes, completes inputs, makes coins and balances, all at the checkpoint. Every step
 * can be done again after a crash; only the last one lets questions in.
 * @param clients connections that may work at the same time
 */
export async function finishFirstCatchUp(clients: readonly [ClientBase, ...ClientBase[]]): Promise<void> {
  const [client] = clients;
  await shareOut(clients, indexesToBuild([...LOOK_UP_INDEXES, ...QUESTION_INDEXES]));
  await shareOut(clients, tablesToAnalyze(GROWING_TABLES));
  await resolveAllLateInputs(client);
  await client.query(`truncate ${COIN_TABLES.join(', ')}`);
  for (const worker of clients) await worker.query(`set work_mem = '${WORK_MEMORY}'`);
  await shareOut(clients, [makeCoinsAndBalances, makeBalanceChanges, makeNetworkIntervals]);
  for (const worker of clients) await worker.query('reset work_mem');
  await shareOut(clients, indexesToBuild(COIN_INDEXES));
  await shareOut(clients, tablesToAnalyze([...COIN_TABLES, 'balance_changes', 'network_intervals']));
  for (const table of GROWING_TABLES) await client.query(`alter table ${table} reset (autovacuum_enabled)`);
  await letQuestionsIn(client);
}

type Job = (client: ClientBase) => Promise<void>;

/** Each connection takes the next job as soon as it has done one. */
async function shareOut(clients: readonly ClientBase[], jobs: readonly Job[]): Promise<void> {
  const waiting = [...jobs];
  await Promise.all(
    clients.map(async (client) => {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await job(client);
    }),
  );
}

function indexesToBuild(names: readonly string[]): Job[] {
  return names.map((name) => (client) => buildIndex(client, name));
}

function tablesToAnalyze(names: readonly string[]): Job[] {
  return names.map((name) => async (client) => {
    await client.query(`analyze ${name}`);
  });
}

async function makeCoinsAndBalances(client: ClientBase): Promise<void> {
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
async function makeBalanceChanges(client: ClientBase): Promise<void> {
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

async function makeNetworkIntervals(client: ClientBase): Promise<void> {
  await client.query('select make_network_intervals()');
}

/** Level by level from the roots down. */
const SUM_CLUSTERS = `
  with recursive members as (
    select script_id, script_id as cluster_id from cluster_members where parent_id is null
    union all
    select m.script_id, members.cluster_id from members join cluster_members m on m.parent_id = members.script_id),
  sums as (
    select cluster_id, sum(balance) as balance from members join balances using (script_id) group by cluster_id)
  update clusters c set balance = coalesce((select s.balance from sums s where s.cluster_id = c.id), 0)`;

/** The tags are looked at last, where nobody can add one unseen: who writes tags takes a lock on the checkpoint too. */
async function letQuestionsIn(client: ClientBase): Promise<void> {
  await inTransaction(client, async () => {
    await client.query('select from checkpoint for update');
    await client.query(`update balances set is_tagged = true where script_id in (${SELECT_TAGGED_SCRIPTS})`);
    await client.query(SUM_CLUSTERS);
    await client.query(
      `update checkpoint set first_catch_up = false, seconds_left = null, updated_at = now(),
              circulating_sompi = (select coalesce(sum(balance), 0) from balances)`,
    );
  });
}

/** The index and its line in `deferred_indexes` change together. */
async function buildIndex(client: ClientBase, name: string): Promise<void> {
  await inTransaction(client, async () => {
    const { rows } = await client.query<{ definition: string }>(
      'delete from deferred_indexes where name = $1 returning definition',
      [name],
    );
    if (rows[0] === undefined) return;
    await client.query("set local maintenance_work_mem = '256MB'");
    await client.query(rows[0].definition);
  });
}
