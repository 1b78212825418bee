/**
 * Fills an empty, migrated database with an index of a million transactions, without a node: rows by large-index-rows.ts, indexes dropped
 * before and built afterwards. For tests of plans, and for the benchmark of the API.
 */
import { createHash } from 'node:crypto';
import { BATCH_TABLES, copyRows } from '@kasgres/database';
import { getNetwork, scriptToAddress } from '@kasgres/kaspa';
import type { Pool, PoolClient } from 'pg';
export {
  BUSY,
  COMMON_LABEL,
  LARGE_CLUSTER,
  memberOfLarge,
  PAID_BY_ALL,
  PAID_IN_VAIN,
  RARE_LABEL,
} from './large-index-rows.ts';
import { FIRST_STATEMENTS, LAST_STATEMENTS, SCRIPTS, SECOND_STATEMENTS } from './large-index-rows.ts';

const CONNECTIONS = 2;

/** Sorts and joins in memory where the machine has it. No JIT: it compiles longer than these statements gain. */
const SETTINGS = `set work_mem = '256MB'; set maintenance_work_mem = '256MB'; set jit = off`;

/** Nothing of this database is to survive a crash, and no vacuum may come between two measurements. */
export async function fillLargeIndex(pool: Pool): Promise<void> {
  const tables = await listTables(pool);
  const dropped = await listIndexes(pool);
  await run(pool, [...dropped.map(({ drop }) => drop), 'alter table tags disable trigger all'], 1);
  await run(
    pool,
    tables.flatMap((table) => [
      `alter table ${table} set unlogged`,
      `alter table ${table} set (autovacuum_enabled = false)`,
    ]),
    1,
  );
  await withClient(pool, copyScripts);
  await run(pool, FIRST_STATEMENTS, CONNECTIONS);
  await run(pool, [`vacuum analyze ${tables.join(', ')}`], 1);
  await run(pool, SECOND_STATEMENTS, CONNECTIONS);
  await run(pool, LAST_STATEMENTS, 1);
  await run(
    pool,
    dropped.map(({ create }) => create),
    CONNECTIONS,
  );
  await run(pool, [`vacuum analyze ${tables.join(', ')}`, 'alter table tags enable trigger all'], 1);
}

/** The script of an id: a public key that nobody has. */
export function scriptOf(id: number): Uint8Array {
  const key = createHash('sha256').update(`script ${id}`).digest();
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([0xac])]);
}

export function addressOf(id: number): string {
  const { addressPrefix } = getNetwork('simnet');
  return scriptToAddress({ version: 0, script: scriptOf(id) }, addressPrefix) as string;
}

async function copyScripts(client: PoolClient): Promise<void> {
  const buffer = BATCH_TABLES.scripts.createBuffer();
  for (let id = 1; id <= SCRIPTS; id += 1) {
    buffer.write({ id, version: 0, script: scriptOf(id), type: 'pubkey', address: addressOf(id) });
  }
  await copyRows(client, buffer);
}

async function listTables(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relpersistence = 'p'
     order by relname`,
  );
  return rows.map(({ name }) => name);
}

interface IndexDefinition {
  drop: string;
  create: string;
}

/** Those of primary keys belong to their constraints. */
async function listIndexes(pool: Pool): Promise<IndexDefinition[]> {
  const { rows } = await pool.query<IndexDefinition>(
    `select case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
                 else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as drop,
            case when c.oid is null then pg_get_indexdef(i.indexrelid)
                 else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end as create
     from pg_index i join pg_class r on r.oid = i.indrelid left join pg_constraint c on c.conindid = i.indexrelid
     where r.relnamespace = 'public'::regnamespace and r.relpersistence = 'p'`,
  );
  return rows;
}

/** A few at a time; each connection takes the next one that is left. */
async function run(pool: Pool, statements: readonly string[], connections: number): Promise<void> {
  const left = statements.values();
  const worker = () =>
    withClient(pool, async (client) => {
      await client.query(SETTINGS);
      for (const statement of left) await client.query(statement);
    });
  await Promise.all(Array.from({ length: connections }, worker));
}

/** On a connection that is closed afterwards, with what was set on it. */
async function withClient(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await work(client);
  } finally {
    client.release(true);
  }
}
