/**
 * The first catch-up writes rows and leaves to its end what is cheaper made at once: indexes that only requests need, the
 * UTXOs, balances and rollups. Which indexes are missing, and how they are made, stands in `deferred_indexes`, so that a crash at
 * any moment leaves a database that the next start can finish.
 */
import { type BlockingSession, inTransaction, withExclusiveLocks } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { resolveAllLateInputs } from './late-inputs.ts';
import {
  makeBalanceChanges,
  makeUtxosAndBalances,
  makeNetworkIntervals,
  markTagged,
  sumClusters,
} from './make-state.ts';

/** Needed to look up what the memory forgot; built as soon as it does not know everything. */
const LOOK_UP_INDEXES = ['transactions_transaction_id', 'scripts_script'];
/** Needed by requests only. The largest comes first, so that connections that share them out end together. */
const REQUEST_INDEXES = [
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
const UTXO_INDEXES = ['utxos_script_id', 'balances_balance', 'balances_tagged'];

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
const UTXO_TABLES = ['utxos', 'balances', 'balance_changes', 'seen_before'];
/** For the joins that make them, and those with cluster_members: what does not fit is read again for every level of the trees. */
const WORK_MEMORY = '128MB';
/** Dropping an index waits for readers of its table, and readers that come later wait for it: the attempt fails instead and is made again. */
const DROP_LOCK_TIMEOUT = '1s';

/** Drops the indexes that can wait. Only on an empty database, inside a transaction; again is no harm. */
export async function deferIndexes(client: ClientBase): Promise<void> {
  const names = [...LOOK_UP_INDEXES, ...REQUEST_INDEXES, ...UTXO_INDEXES];
  await client.query(
    `insert into deferred_indexes (name, definition)
     select indexname, indexdef from pg_indexes where schemaname = 'public' and indexname = any($1)`,
    [names],
  );
  await client.query(`set local lock_timeout = '${DROP_LOCK_TIMEOUT}'`);
  for (const name of names) await client.query(`drop index if exists ${name}`);
  await client.query('set local lock_timeout = 0');
  for (const table of GROWING_TABLES) await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
}

/** Builds the indexes that lookUp needs. */
export async function buildLookUpIndexes(client: ClientBase): Promise<void> {
  for (const name of LOOK_UP_INDEXES) await buildIndex(client, name);
}

/**
 * Ends the first catch-up: builds the indexes, completes inputs, makes UTXOs and balances, all at the checkpoint. Every step
 * can be done again after a crash; only the last one lets requests in.
 * @param clients connections that may work at the same time
 * @param onBlocked hears of sessions that read the tables of balances while these are to be emptied
 */
export async function finishFirstCatchUp(
  clients: readonly [ClientBase, ClientBase],
  onBlocked?: (blocking: readonly BlockingSession[]) => void,
): Promise<void> {
  const [client, observer] = clients;
  await shareOut(clients, indexesToBuild([...LOOK_UP_INDEXES, ...REQUEST_INDEXES]));
  await shareOut(clients, tablesToAnalyze(GROWING_TABLES));
  await resolveAllLateInputs(client);
  await withExclusiveLocks(client, () => client.query(`truncate ${UTXO_TABLES.join(', ')}`), {
    observer,
    onBlocked,
  });
  for (const worker of clients) await worker.query(`set work_mem = '${WORK_MEMORY}'`);
  await shareOut(clients, [makeUtxosAndBalances, makeBalanceChanges, makeNetworkIntervals]);
  for (const worker of clients) await worker.query('reset work_mem');
  await shareOut(clients, indexesToBuild(UTXO_INDEXES));
  await shareOut(clients, tablesToAnalyze([...UTXO_TABLES, 'network_intervals']));
  for (const table of GROWING_TABLES) await client.query(`alter table ${table} reset (autovacuum_enabled)`);
  await letRequestsIn(client);
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

/** The tags are looked at last, where nobody can add one unseen: who writes tags takes a lock on the checkpoint too. */
async function letRequestsIn(client: ClientBase): Promise<void> {
  await inTransaction(client, async () => {
    await client.query('select from checkpoint for update');
    await client.query(`set local work_mem = '${WORK_MEMORY}'`);
    await markTagged(client);
    await sumClusters(client);
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
