/**
 * The first catch-up writes rows and leaves to its end what is cheaper made at once: indexes that only questions need, the
 * coins and the balances. Which indexes are missing, and how they are made, stands in `deferred_indexes`, so that a crash at
 * any moment leaves a database that the next start can finish.
 */
import type { ClientBase } from 'pg';
import { resolveLateInputs } from './late-inputs.ts';

/** Needed to recall what the memory forgot; built as soon as it does not know everything. */
const LOOK_UP_INDEXES = ['transactions_transaction_id', 'scripts_script'];
/** Needed by questions only. */
const QUESTION_INDEXES = [
  'block_transactions_transaction_id',
  'transaction_inputs_previous_transaction_id',
  'address_transactions_script_id',
];
/** On a table that only the end fills. */
const COIN_INDEXES = ['utxos_script_id'];

/** Only added to while catching up: vacuuming and analysing them meanwhile would be done again at the end. */
const GROWING_TABLES = [
  'blocks',
  'block_parents',
  'chain_blocks',
  'transactions',
  'block_transactions',
  'scripts',
  'transaction_inputs',
  'transaction_outputs',
  'address_transactions',
];
/** For the joins that make the coins. */
const WORK_MEMORY = '128MB';

/** Drops the indexes that can wait. Only on an empty database, in the transaction that writes its first row. */
export async function deferIndexes(client: ClientBase): Promise<void> {
  const names = [...LOOK_UP_INDEXES, ...QUESTION_INDEXES, ...COIN_INDEXES];
  await client.query(
    `insert into deferred_indexes (name, definition)
     select indexname, indexdef from pg_indexes where schemaname = 'public' and indexname = any($1)`,
    [names],
  );
  for (const name of names) await client.query(`drop index ${name}`);
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
  const waiting = [...LOOK_UP_INDEXES, ...QUESTION_INDEXES];
  await Promise.all(
    clients.map(async (worker) => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await buildIndex(worker, name);
    }),
  );
  await client.query(`analyze ${GROWING_TABLES.join(', ')}`);
  await resolveLateInputs(client, 0);
  await client.query(`set work_mem = '${WORK_MEMORY}'`);
  await makeCoins(client);
  await client.query('reset work_mem');
  for (const name of COIN_INDEXES) await buildIndex(client, name);
  await client.query('analyze utxos, balances');
  for (const table of GROWING_TABLES) await client.query(`alter table ${table} reset (autovacuum_enabled)`);
  await client.query(
    `update checkpoint set first_catch_up = false, seconds_left = null, updated_at = now(),
            circulating_sompi = (select coalesce(sum(balance), 0) from balances)`,
  );
}

/** Coins of accepted transactions that no accepted transaction spends. */
async function makeCoins(client: ClientBase): Promise<void> {
  await client.query('truncate utxos, balances');
  await client.query(
    `insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
     select o.transaction_id, o.index, o.script_id, o.amount, c.daa_score, t.subnetwork_id = 1
       from transactions t
       join chain_blocks c on c.block_id = t.accepting_block_id
       join transaction_outputs o on o.transaction_id = t.id
      where not exists (
              select from transaction_inputs i join transactions s on s.id = i.transaction_id
               where i.previous_transaction_id = o.transaction_id and i.previous_index = o.index
                 and s.accepting_block_id is not null)`,
  );
  await client.query(
    'insert into balances (script_id, balance) select script_id, sum(amount) from utxos group by script_id',
  );
}

/** The index and its line in `deferred_indexes` change together. */
async function buildIndex(client: ClientBase, name: string): Promise<void> {
  await client.query('begin');
  try {
    const { rows } = await client.query<{ definition: string }>(
      'delete from deferred_indexes where name = $1 returning definition',
      [name],
    );
    if (rows[0] !== undefined) {
      await client.query("set local maintenance_work_mem = '256MB'");
      await client.query(rows[0].definition);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
