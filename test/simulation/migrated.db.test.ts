/** Databases that were begun under an earlier schema: migrated, they become what a fresh index is. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { createTestDatabase, migrate, type TestDatabase } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { from, to } from 'pg-copy-streams';
import { afterEach, expect, test } from 'vitest';
import { atRest, expectRight, setStage, type Stage } from './stage.ts';
import { startIndexing } from './world.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A database as the first release made it. */
async function firstSchema(): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true });
  cleanUp.push(() => database.drop());
  const folder = await mkdtemp(join(tmpdir(), 'kasgres-migrations-'));
  cleanUp.push(() => rm(folder, { recursive: true }));
  await copyFile(join(MIGRATIONS, '0001_initial.sql'), join(folder, '0001_initial.sql'));
  await migrate(database.url, { directory: pathToFileURL(`${folder}/`) });
  return database;
}

/** `name.column` of each table, and its column as SQL writes it. */
async function columnsOf({ pool }: TestDatabase): Promise<Map<string, { table: string; column: string }>> {
  const { rows } = await pool.query<{ table: string; column: string }>(
    `select table_name as table, format('%I', column_name) as column
       from information_schema.columns where table_schema = 'public' and table_name <> 'migrations' order by ordinal_position`,
  );
  return new Map(rows.map((row) => [`${row.table}.${row.column}`, row]));
}

/** Every row, as far as the older schema has columns for it. */
async function copyInto(older: TestDatabase, newer: TestDatabase): Promise<void> {
  const [known, given] = [await columnsOf(older), await columnsOf(newer)];
  const shared = [...known].flatMap(([name, column]) => (given.has(name) ? [column] : []));
  const [source, target] = [await newer.pool.connect(), await older.pool.connect()];
  try {
    for (const [table, those] of Map.groupBy(shared, (each) => each.table)) {
      const columns = those.map(({ column }) => column).join(', ');
      await target.query(`truncate ${table}`);
      await pipeline(
        source.query(to(`copy (select ${columns} from ${table}) to stdout`)),
        target.query(from(`copy ${table} (${columns}) from stdin`)),
      );
    }
  } finally {
    source.release();
    target.release();
  }
}

async function goOn(stage: Stage): Promise<void> {
  const { world, node, database } = stage;
  const indexer = startIndexing(world, database.url);
  await atRest(database, node, indexer);
  for (let step = 0; step < 5; step += 1) {
    world.mine(6);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await expectRight(stage);
}

/** The indexes that are deferred, as that release deferred them. */
async function deferIndexes({ pool }: TestDatabase): Promise<void> {
  await pool.query('delete from deferred_indexes where name not in (select indexname from pg_indexes)');
  const { rows } = await pool.query<{ name: string }>(
    'update deferred_indexes set definition = indexdef from pg_indexes where indexname = name returning name',
  );
  expect(rows).toContainEqual({ name: 'utxos_script_id' });
  for (const { name } of rows) await pool.query(`drop index ${name}`);
}

test('migrated in the middle of the first catch-up', async () => {
  const newer = await setStage('migrated early');
  const { world } = newer;
  world.mine(120);
  await newer.database.pool.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused' using errcode = '53100'; end $$;
     create trigger refuse before delete on deferred_indexes for each row execute function refuse()`,
  );
  const indexer = startIndexing(world, newer.database.url, { BATCH_TRANSACTIONS: '60' });
  for (let index = -1n; index < 50n; await Promise.race([sleep(5), indexer.ended])) {
    const { rows } = await newer.database.pool.query<{ chain_index: bigint }>('select chain_index from checkpoint');
    index = rows[0]?.chain_index ?? -1n;
  }
  await indexer.stop();
  const database = await firstSchema();
  await copyInto(database, newer.database);
  await deferIndexes(database);
  expect(await migrate(database.url)).not.toEqual([]);
  await goOn({ ...newer, database });
});

test('migrated at the tip', async () => {
  const newer = await setStage('migrated at the tip');
  const { world, node } = newer;
  const indexer = startIndexing(world, newer.database.url);
  for (let step = 0; step < 10; step += 1) {
    world.mine(10);
    await atRest(newer.database, node, indexer);
  }
  await indexer.stop();
  const database = await firstSchema();
  await copyInto(database, newer.database);
  await database.pool.query('delete from balances where balance = 0');
  expect(await migrate(database.url)).not.toEqual([]);
  await goOn({ ...newer, database });
});
