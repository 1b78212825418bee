/**
 * Fills an empty, migrated database with an index of a million transactions, without a node: rows
 * by large-index-rows.ts, indexes dropped before and built afterwards. For tests of plans, and for
 * the benchmark of the API.
 */
import { createHash } from 'node:crypto';
import { BATCH_TABLES, connect, copyRows } from '@kasgres/database';
import { BLOCK_TABLES, PARTITIONED_TABLES, TRANSACTION_TABLES } from '@kasgres/indexer/testing';
import { getNetwork, scriptToAddress } from '@kasgres/kaspa';
import { lanes } from '@kasgres/state/testing';
import type { Pool } from 'pg';
import {
  BLOCKS,
  CHAIN_BLOCKS,
  FIRST_STATEMENTS,
  LAST_STATEMENTS,
  SCRIPTS,
  SECOND_STATEMENTS,
  TRANSACTIONS,
} from './large-index-rows.ts';

const CONNECTIONS = 2;
/** Sorts and joins in memory if the machine has it. */
const SETTINGS = { work_mem: '256MB', maintenance_work_mem: '256MB' };

/** Tables that triggers and the end of a first catch-up write. */
const ROLLUPS = [
  'insert into balance_tiers select balance_tier(balance), count(*), sum(balance) from balances where balance > 0 group by 1',
  `insert into network_intervals
   select length, start, 600, 700, 10, 6000, 1000, 1000000, 5000, 1000000000, 400, 10, 700000
   from (values ('minute'::interval_length, 60000::bigint, 200000), ('hour', 3600000, 9000),
     ('day', 86400000, 400)) l (length, milliseconds, count)
   cross join lateral (
     select (select chain_time / l.milliseconds * l.milliseconds from chain_blocks
       order by index desc limit 1) - n * l.milliseconds as start
     from generate_series(0, l.count - 1) n) intervals
   where start >= 0`,
  'insert into miner_hours select * from count_miner_hours()',
  'insert into protocol_hours (hour, protocol, transactions, fees) select p.hour, p.protocol, p.transactions, p.fees from count_protocol_hours() p',
];

function urlOf({ user = '', password, host = '', port = 5432, database = '' }: Pool['options']): string {
  const address = { hostname: host, port: String(port), pathname: database, username: user };
  return Object.assign(new URL('postgresql://localhost'), {
    ...address,
    ...(typeof password === 'string' && { password }),
  }).href;
}

/**
 * This database needs to survive no crash, and no vacuum may run between two measurements.
 * @param generations how many the rows are divided into, evenly
 */
export async function fillLargeIndex({ options }: Pick<Pool, 'options'>, generations = 1): Promise<void> {
  const url = urlOf(options);
  // Statements wait for one of the connections, however long.
  const waiting = { max: CONNECTIONS, connectTimeoutMs: 0 };
  const { pool, close } = connect({ url, applicationName: 'large index', settings: SETTINGS, ...waiting });
  const run = (statements: readonly string[]) => Promise.all(statements.map((text) => pool.query(text)));
  try {
    if (generations > 1) await divide(pool, generations);
    const tables = await listTables(pool);
    const dropped = await listIndexes(pool);
    for (const { drop } of dropped) await pool.query(drop);
    for (const table of await listPartitions(pool)) {
      await pool.query(`alter table ${table} set unlogged; alter table ${table} set (autovacuum_enabled = false)`);
    }
    await pool.query('alter table tags disable trigger all; alter table balances disable trigger all');
    await copyScripts(pool);
    await run(FIRST_STATEMENTS);
    await pool.query(`vacuum analyze ${tables.join(', ')}`);
    await run(SECOND_STATEMENTS);
    for (const text of LAST_STATEMENTS) await pool.query(text);
    await run(dropped.map(({ create }) => create));
    for (const text of ROLLUPS) await pool.query(text);
    const client = await pool.connect();
    await lanes.rebuild?.fromRows?.(client);
    client.release();
    await pool.query(
      `select name_partition_indexes(p.relname, c.relname) from pg_inherits h join pg_class p on p.oid = h.inhparent
         join pg_class c on c.oid = h.inhrelid where p.relkind = 'p'`,
    );
    await pool.query(`vacuum analyze ${tables.join(', ')}`);
    await pool.query('alter table tags enable trigger all; alter table balances enable trigger all');
  } finally {
    await close();
  }
}

/** Returns the number of keys by which a table is divided. */
function keysOf(table: string): number {
  if (table in BLOCK_TABLES) return BLOCKS;
  return table in TRANSACTION_TABLES ? TRANSACTIONS : CHAIN_BLOCKS;
}

/** Replaces the partitions of the empty tables. */
async function divide(pool: Pool, generations: number): Promise<void> {
  for (const table of PARTITIONED_TABLES) {
    const size = Math.ceil(keysOf(table) / generations);
    await pool.query(`drop table ${table}_0`);
    for (let generation = 0; generation < generations; generation += 1) {
      const name = `${table}_${generation}`;
      const from = generation === 0 ? 'minvalue' : generation * size;
      const to = generation === generations - 1 ? 'maxvalue' : (generation + 1) * size;
      await pool.query(`select make_partition('${table}', '${name}')`);
      await pool.query(`alter table ${table} attach partition ${name} for values from (${from}) to (${to})`);
      await pool.query(`select name_partition_indexes('${table}', '${name}')`);
    }
  }
}

/** Returns the script of an id: a public key that nobody has. */
function scriptOf(id: number): Uint8Array {
  const key = createHash('sha256').update(`script ${id}`).digest();
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([0xac])]);
}

export function addressOf(id: number): string {
  return scriptToAddress({ version: 0, script: scriptOf(id) }, getNetwork('simnet').addressPrefix) as string;
}

async function copyScripts(pool: Pool): Promise<void> {
  const buffer = BATCH_TABLES.scripts.createBuffer();
  for (let id = 1; id <= SCRIPTS; id += 1) {
    buffer.write({ id, version: 0, script: scriptOf(id), type: 'pubkey', address: addressOf(id) });
  }
  const client = await pool.connect();
  await copyRows(client, buffer);
  client.release();
}

async function listTables(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
        and relpersistence = 'p'
      order by relname`,
  );
  return rows.map(({ name }) => name);
}

/** Includes tables without partitions. */
async function listPartitions(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relpersistence = 'p'
      order by relname`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Indexes of primary keys belong to their constraints, and those of most partitions to that of the
 * whole table.
 */
async function listIndexes(pool: Pool): Promise<{ drop: string; create: string }[]> {
  const { rows } = await pool.query<{ drop: string; create: string }>(
    `select case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
                 else format('alter table %s drop constraint %I', i.indrelid::regclass,
                   c.conname) end as drop,
            case when c.oid is null then replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
                 else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname,
                   pg_get_constraintdef(c.oid)) end as create
     from pg_index i join pg_class r on r.oid = i.indrelid
       left join pg_constraint c on c.conindid = i.indexrelid
      join pg_class index on index.oid = i.indexrelid
     where r.relnamespace = 'public'::regnamespace and r.relpersistence = 'p'
       and not index.relispartition`,
  );
  return rows;
}
