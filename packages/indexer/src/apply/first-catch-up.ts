/**
 * The first catch-up writes facts only and leaves to its end what is cheaper to make at once: indexes for requests and derived state.
 * `deferred_indexes` has the definitions of the missing indexes, so that the next start can finish after a crash at any moment.
 */
import { type BlockingSession, inTransaction, withExclusiveLocks } from '@kasgres/database';
import { EMPTIED_TABLES, FILLED_TABLES, rebuildJobs, rebuildLockedState, STATE_INDEXES } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { resolveAllLateInputs } from './late-inputs.ts';

/** Needed to look up what the memory forgot; built as soon as it does not know everything. */
const LOOK_UP_INDEXES = ['transactions_transaction_id', 'scripts_script'];
/** Needed by requests only. The largest come first, so that connections that share them finish together. */
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

/** Autovacuum would analyse these meanwhile, and the end does it again. Slowest to analyse first. */
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
/** For the joins of rebuilds: what does not fit of cluster_members is read again for every level of the trees. */
const WORK_MEMORY = '128MB';
/** Dropping an index waits for readers of its table, and later readers wait for it: the attempt fails instead and is retried. */
const DROP_LOCK_TIMEOUT = '1s';

/** Drops the indexes that can wait. Must run inside a transaction on an empty database. Idempotent. */
export async function deferIndexes(client: ClientBase): Promise<void> {
  const names = [...LOOK_UP_INDEXES, ...REQUEST_INDEXES, ...STATE_INDEXES];
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

export async function buildLookUpIndexes(client: ClientBase): Promise<void> {
  for (const name of LOOK_UP_INDEXES) await buildIndex(client, name);
}

/**
 * Finishes the first catch-up: builds the indexes, completes inputs and rebuilds derived state, all at the checkpoint. Every step is idempotent;
 * only the last one lets requests in.
 * @param clients connections that work in parallel
 * @param onBlocked is called with sessions that read tables of derived state while these must be emptied
 */
export async function finishFirstCatchUp(
  clients: readonly [ClientBase, ClientBase],
  onBlocked?: (blocking: readonly BlockingSession[]) => void,
): Promise<void> {
  const [client, observer] = clients;
  await shareOut(clients, indexesToBuild([...LOOK_UP_INDEXES, ...REQUEST_INDEXES]));
  await shareOut(clients, tablesToAnalyze(GROWING_TABLES));
  await resolveAllLateInputs(client);
  await withExclusiveLocks(client, () => client.query(`truncate ${EMPTIED_TABLES.join(', ')}`), {
    observer,
    onBlocked,
  });
  for (const worker of clients) await worker.query(`set work_mem = '${WORK_MEMORY}'`);
  await shareOut(clients, rebuildJobs());
  for (const worker of clients) await worker.query('reset work_mem');
  await shareOut(clients, indexesToBuild(STATE_INDEXES));
  await shareOut(clients, tablesToAnalyze(FILLED_TABLES));
  for (const table of GROWING_TABLES) await client.query(`alter table ${table} reset (autovacuum_enabled)`);
  await letRequestsIn(client);
}

type Job = (client: ClientBase) => Promise<void>;

/** Each connection takes the next job when it has finished one. */
async function shareOut(clients: readonly ClientBase[], jobs: readonly Job[]): Promise<void> {
  const pending = [...jobs];
  await Promise.all(
    clients.map(async (client) => {
      for (let job = pending.shift(); job !== undefined; job = pending.shift()) await job(client);
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

/** An import of tags takes the lock on the checkpoint, too, so that none is missed here. */
async function letRequestsIn(client: ClientBase): Promise<void> {
  await inTransaction(client, async () => {
    await client.query('select from checkpoint for update');
    await client.query(`set local work_mem = '${WORK_MEMORY}'`);
    await rebuildLockedState(client);
    await client.query(
      `update checkpoint set first_catch_up = false, seconds_left = null, updated_at = now(),
              circulating_sompi = (select coalesce(sum(balance), 0) from balances)`,
    );
  });
}

/** Builds an index and deletes its row of `deferred_indexes` in one transaction. */
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
