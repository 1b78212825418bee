/**
 * Indexes and derived state are cheaper to build at the end of the first catch-up.
 * `deferred_indexes` has the definitions in case of a crash.
 */
import { type BlockingSession, inTransaction, withExclusiveLocks } from '@kasgres/database';
import {
  type CandidateTransactions,
  EMPTIED_TABLES,
  FILLED_TABLES,
  rebuildLockedState,
  rebuildSteps,
  STATE_INDEXES,
} from '@kasgres/state';
import type { ClientBase } from 'pg';
import { resolveAllLateInputs } from './late-inputs.ts';

/** Built as soon as the cache evicts entries. */
const LOOK_UP_INDEXES = ['transactions_transaction_id', 'scripts_address', 'scripts_script'];
/** The largest come first, so that both connections finish together. */
const REQUEST_INDEXES = [
  'transactions_transaction_id_text',
  'transaction_outputs_script_id',
  'transaction_inputs_previous_transaction_id',
  'transaction_inputs_script_id',
  'block_transactions_transaction_id',
  'blocks_hash_text',
  'blocks_blue_score',
  'blocks_daa_score',
  'blocks_time',
  'chain_blocks_time',
  'chain_blocks_chain_time',
];

/**
 * Autovacuum is off for these until they are analysed at the end. The slowest to analyse come
 * first.
 */
export const GROWING_TABLES = [
  'transactions',
  'transaction_inputs',
  'scripts',
  'blocks',
  'transaction_outputs',
  'block_transactions',
  'block_parents',
  'chain_blocks',
];
/**
 * Rows of the first catch-up are complete when they are written; later ones leave room for the
 * update on acceptance or merging, as in the migration.
 */
const FILLFACTORS = { transactions: 50, blocks: 90 };
/** With less, cluster_members would be read again for every level of the trees. */
const WORK_MEMORY = '128MB';
/**
 * Dropping an index waits for readers of its table, and later readers queue behind it, so the
 * attempt fails early and is retried.
 */
const DROP_LOCK_TIMEOUT = '1s';

/** Drops the deferred indexes. Must run inside a transaction on an empty database. Idempotent. */
export async function deferIndexes(client: ClientBase): Promise<void> {
  const names = [...LOOK_UP_INDEXES, ...REQUEST_INDEXES, ...STATE_INDEXES];
  await client.query(
    `insert into deferred_indexes (name, definition)
     select indexname, replace(indexdef, ' ON ONLY ', ' ON ') from pg_indexes
       where schemaname = 'public' and indexname = any($1)`,
    [names],
  );
  await client.query(`set local lock_timeout = '${DROP_LOCK_TIMEOUT}'`);
  for (const name of names) await client.query(`drop index if exists ${name}`);
  await client.query('set local lock_timeout = 0');
  await alterPartitions(client, GROWING_TABLES, 'set (autovacuum_enabled = false)');
  await alterPartitions(client, Object.keys(FILLFACTORS), 'set (fillfactor = 100)');
}

/** Storage parameters belong to partitions, or to a table without any. */
async function alterPartitions(client: ClientBase, tables: readonly string[], change: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select coalesce(leaf.relid::text, name) as name
       from unnest($1::text[]) as name
         left join lateral pg_partition_tree(name::regclass) leaf on leaf.isleaf`,
    [tables],
  );
  for (const { name } of rows) await client.query(`alter table ${name} ${change}`);
}

export async function buildLookUpIndexes(client: ClientBase): Promise<void> {
  for (const name of LOOK_UP_INDEXES) await buildIndex(client, name);
}

export interface FinishOptions {
  /** If this attempt saw the whole catch-up. */
  candidates?: CandidateTransactions | undefined;
  /** Called with sessions that read tables that must be emptied. */
  onBlocked?: (blocking: readonly BlockingSession[]) => void;
  /** Ends the wait for those sessions. */
  signal?: AbortSignal | undefined;
}

/** Every step is idempotent; the last one lets requests in. */
export async function finishFirstCatchUp(
  clients: readonly [ClientBase, ClientBase],
  { candidates, onBlocked, signal }: FinishOptions = {},
): Promise<void> {
  const [client, observer] = clients;
  await forEachInParallel(clients, [...LOOK_UP_INDEXES, ...REQUEST_INDEXES], buildIndex);
  await forEachInParallel(clients, GROWING_TABLES, (worker, table) => worker.query(`analyze ${table}`));
  await resolveAllLateInputs(client);
  await withExclusiveLocks(client, () => client.query(`truncate ${EMPTIED_TABLES.join(', ')}`), {
    observer,
    onBlocked,
    signal,
  });
  for (const worker of clients) await worker.query(`set work_mem = '${WORK_MEMORY}'`);
  await forEachInParallel(clients, rebuildSteps(candidates), (worker, rebuild) => rebuild(worker));
  await client.query('truncate accepted_deltas, possible_reveals');
  for (const worker of clients) await worker.query('reset work_mem');
  await forEachInParallel(clients, STATE_INDEXES, buildIndex);
  await forEachInParallel(clients, FILLED_TABLES, (worker, table) => worker.query(`analyze ${table}`));
  await alterPartitions(client, GROWING_TABLES, 'reset (autovacuum_enabled)');
  for (const [table, percent] of Object.entries(FILLFACTORS)) {
    await alterPartitions(client, [table], `set (fillfactor = ${percent})`);
  }
  await inTransaction(client, async () => {
    // Imports of tags take this lock, too, so none is missed.
    await client.query('select from checkpoint for update');
    await client.query(`set local work_mem = '${WORK_MEMORY}'`);
    await rebuildLockedState(client);
    await client.query(
      `update checkpoint set first_catch_up = false, seconds_left = null, updated_at = now(),
              version = next_version(version),
              circulating_sompi = (select coalesce(sum(balance), 0) from balances)`,
    );
  });
}

async function forEachInParallel<Item>(
  clients: readonly ClientBase[],
  items: readonly Item[],
  run: (client: ClientBase, item: Item) => Promise<unknown>,
): Promise<void> {
  const pending = items.values();
  await Promise.all(
    clients.map(async (client) => {
      for (const item of pending) await run(client, item);
    }),
  );
}

async function buildIndex(client: ClientBase, name: string): Promise<void> {
  await inTransaction(client, async () => {
    const { rows } = await client.query<{ definition: string }>(
      'delete from deferred_indexes where name = $1 returning definition',
      [name],
    );
    if (rows[0] === undefined) return;
    await client.query("set local maintenance_work_mem = '256MB'");
    await createIndex(client, name, rows[0].definition);
  });
}

/**
 * With partitions, gives their indexes names: those that Postgres gives would collide with what the
 * other connection builds.
 */
async function createIndex(client: ClientBase, name: string, definition: string): Promise<void> {
  const [, table = ''] = /^CREATE (?:UNIQUE )?INDEX \S+ ON (?:public\.)?(\S+) /.exec(definition) ?? [];
  if (definition.includes(' USING hash ')) await countRows(client, table);
  const { rows } = await client.query<{ name: string }>(
    'select relid::text as name from pg_partition_tree($1::text::regclass) where isleaf and relid <> $1::text::regclass',
    [table],
  );
  const define = (index: string, on: string): string =>
    definition.replace(/^CREATE INDEX \S+ ON \S+ /, `create index ${index} on ${on} `);
  if (rows.length === 0) return void (await client.query(definition));
  await client.query(define(name, `only ${table}`));
  for (const partition of rows) {
    const index = name.replace(table, partition.name);
    await client.query(define(index, partition.name));
    await client.query(`alter index ${name} attach partition ${index}`);
  }
}

/**
 * Postgres makes a hash index as large as the estimated number of rows needs. For a table without
 * statistics that is up to twice as many.
 */
async function countRows(client: ClientBase, table: string): Promise<void> {
  await client.query('set local default_statistics_target = 1');
  await client.query(`analyze ${table}`);
}
