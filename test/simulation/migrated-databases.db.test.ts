/** Databases of older schemas, once migrated, equal a fresh index. */
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { createTestDatabase, migrate, type TestDatabase } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { from, to } from 'pg-copy-streams';
import { afterEach, expect, test } from 'vitest';
import { checkInvariant4 } from '@kasgres/cli';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { atRest, expectRight, createHarness, type Harness } from '../support/harness.ts';
import { followToTheTip, pruneAbove, pruneBeforeEarlierHour, createPruningHarness } from './starts-harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** Creates a database with the first migrations only. */
async function schemaOf(migrations: number): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true });
  cleanUp.push(() => database.drop());
  const folder = await mkdtemp(join(tmpdir(), 'kasgres-migrations-'));
  cleanUp.push(() => rm(folder, { recursive: true }));
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort();
  for (const file of files.slice(0, migrations)) await copyFile(join(MIGRATIONS, file), join(folder, file));
  await migrate(database.url, { directory: pathToFileURL(`${folder}/`) });
  return database;
}

/** Maps `table.column` to its declaration. */
async function columnsOf({ pool }: TestDatabase): Promise<Map<string, { table: string; column: string }>> {
  const { rows } = await pool.query<{ table: string; column: string }>(
    `select table_name as table, format('%I', column_name) as column
       from information_schema.columns where table_schema = 'public' and table_name <> 'migrations' order by ordinal_position`,
  );
  return new Map(rows.map((row) => [`${row.table}.${row.column}`, row]));
}

/** Copies every row, with the columns that the older schema has. */
async function copyInto(older: TestDatabase, newer: TestDatabase): Promise<void> {
  const [known, given] = [await columnsOf(older), await columnsOf(newer)];
  const shared = [...known].flatMap(([name, column]) => (given.has(name) ? [column] : []));
  const [source, target] = [await newer.pool.connect(), await older.pool.connect()];
  try {
    for (const [table, those] of Map.groupBy(shared, (each) => each.table)) {
      const columns = those.map(({ column }) => column).join(', ');
      await target.query(`delete from ${table}`);
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

async function continueToTip(harness: Harness): Promise<void> {
  const { simulatedDag, node, database } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  for (let step = 0; step < 5; step += 1) {
    simulatedDag.mine(6);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await expectRight(harness);
}

/** Restores the deferred indexes of that release. */
async function deferIndexes({ pool }: TestDatabase): Promise<void> {
  await pool.query('delete from deferred_indexes where name not in (select indexname from pg_indexes)');
  const { rows } = await pool.query<{ name: string }>(
    'update deferred_indexes set definition = indexdef from pg_indexes where indexname = name returning name',
  );
  expect(rows).toContainEqual({ name: 'utxos_script_id' });
  for (const { name } of rows) await pool.query(`drop index ${name}`);
}

test('a database migrated in the middle of the first catch-up equals a fresh index', async () => {
  const newer = await createHarness('migrated early');
  const { simulatedDag } = newer;
  simulatedDag.mine(120);
  await newer.database.pool.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused' using errcode = '53100'; end $$;
     create trigger refuse before delete on deferred_indexes for each row execute function refuse()`,
  );
  const indexer = startIndexing(simulatedDag, newer.database.url, { batchTransactions: '60' });
  for (let index = -1n; index < 50n; await Promise.race([sleep(5), indexer.ended])) {
    const { rows } = await newer.database.pool.query<{ chain_index: bigint }>('select chain_index from checkpoint');
    index = rows[0]?.chain_index ?? -1n;
  }
  await indexer.stop();
  const database = await schemaOf(1);
  await copyInto(database, newer.database);
  await deferIndexes(database);
  expect(await migrate(database.url)).not.toEqual([]);
  await continueToTip({ ...newer, database });
});

test('a database migrated at the tip equals a fresh index', async () => {
  const newer = await createHarness('a database migrated at the tip equals a fresh index');
  const { simulatedDag, node } = newer;
  const indexer = startIndexing(simulatedDag, newer.database.url);
  for (let step = 0; step < 10; step += 1) {
    simulatedDag.mine(10);
    await atRest(newer.database, node, indexer);
  }
  await indexer.stop();
  const database = await schemaOf(1);
  await copyInto(database, newer.database);
  await database.pool.query('delete from balances where balance = 0');
  expect(await migrate(database.url)).not.toEqual([]);
  await continueToTip({ ...newer, database });
});

/**
 * Writes hours as before migration 9: by the blocks' own times; a bootstrap block replaced the changes of its hour and of later ones.
 * @param newer has the balances at each bootstrap block
 * @param caughtUpFrom number of the first bootstrap block whose first catch-up was finished, so that it has hours
 */
async function countByOwnTimes(older: TestDatabase, newer: TestDatabase, caughtUpFrom = 0): Promise<void> {
  const { rows: starts } = await newer.pool.query<{ chain_index: bigint; hour: number }>(
    `select s.chain_index, (c.timestamp / 3600000)::integer as hour
       from starts s join chain_blocks c on c.index = s.chain_index order by s.chain_index`,
  );
  await older.pool.query('delete from balance_changes');
  for (const [place, { chain_index: start, hour }] of starts.entries()) {
    if (place < caughtUpFrom) continue;
    const { rows: held } = await newer.pool.query<{ script_id: bigint; balance: bigint }>(
      `select script_id, balance from start_balances where chain_index = $1
       union all
       select script_id, sum(amount)::bigint from start_utxos where $1 = (select max(chain_index) from starts) group by 1`,
      [start],
    );
    await older.pool.query('delete from balance_changes where hour >= $1', [hour]);
    await older.pool.query(
      `with changes as (
         select script_id, $1::integer as hour, balance as change from unnest($2::bigint[], $3::bigint[]) held (script_id, balance)
         union all
         select script_id, $1, -change from balance_changes
         union all
         select a.script_id, (c.timestamp / 3600000)::integer, a.amount_received - a.amount_sent
           from chain_blocks c cross join unnest(c.accepted_transactions) accepted (id)
           join address_transactions a on a.transaction_id = accepted.id
          where c.index > $4 and ($5::bigint is null or c.index <= $5))
       insert into balance_changes select script_id, hour, sum(change) from changes group by 1, 2 having sum(change) <> 0
       on conflict (script_id, hour) do update set change = balance_changes.change + excluded.change`,
      [
        hour,
        held.map(({ script_id }) => script_id),
        held.map(({ balance }) => balance),
        start,
        starts[place + 1]?.chain_index ?? null,
      ],
    );
  }
}

/** Writes script activity as before migration 9: every script of the latest bootstrap block was seen there. Returns how many scripts changed. */
async function seeAtLatestStart({ pool }: TestDatabase): Promise<number> {
  const { rowCount: forgotten } = await pool.query(
    'delete from balances where transaction_count = 0 and script_id not in (select script_id from start_utxos)',
  );
  const { rowCount: changed } = await pool.query(
    `update balances b set first_seen = r.first_seen, last_seen = r.last_seen
       from balances other left join script_rollups() r using (script_id)
      where other.script_id = b.script_id and (b.first_seen, b.last_seen) is distinct from (r.first_seen, r.last_seen)`,
  );
  await pool.query('select make_network_intervals()');
  return Math.min(forgotten ?? 0, changed ?? 0);
}

async function countNegativeHours({ pool }: TestDatabase): Promise<number> {
  const { rowCount } = await pool.query(
    `select from (select sum(change) over (partition by script_id order by hour) as running from balance_changes) hours where running < 0`,
  );
  return rowCount ?? 0;
}

async function startBalancesOf({ pool }: TestDatabase): Promise<unknown[]> {
  const { rows } = await pool.query<object>('select * from start_balances order by chain_index, script_id');
  return rows;
}

/** Creates an index with two gaps by the newest version, and an empty database of version 8 for its rows. */
async function setHarnessWithGaps(name: string): Promise<{ newer: Harness; older: TestDatabase }> {
  const newer = await createPruningHarness(name);
  const { simulatedDag } = newer;
  pruneBeforeEarlierHour(simulatedDag, 60);
  await followToTheTip(newer);
  for (let gap = 0; gap < 2; gap += 1) {
    pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
    await followToTheTip(newer, { ON_GAP: 'record' });
  }
  const older = await schemaOf(8);
  await copyInto(older, newer.database);
  return { newer, older };
}

test('the migration of a database with a gap in the first catch-up reports that the balances of the first bootstrap block are unknown', async () => {
  const { newer, older: database } = await setHarnessWithGaps('migrated after an early gap');
  await countByOwnTimes(database, newer.database, 1);
  await seeAtLatestStart(database);
  expect(await migrate(database.url)).not.toEqual([]);
  const { rows } = await database.pool.query('select balances_known from starts order by chain_index');
  expect(rows).toEqual([{ balances_known: false }, { balances_known: true }, { balances_known: true }]);
  expect(await checkInvariant4(database.pool)).toEqual([]);
  await followToTheTip({ ...newer, database });
  expect(await checkInvariant4(database.pool)).toEqual([]);
});

test('a database with hours by block timestamps, and without earlier UTXO sets, is migrated to the state of a fresh index', async () => {
  const { newer, older: database } = await setHarnessWithGaps('migrated hours');
  const expected = await takeSnapshot(newer.database.pool);
  expect(await startBalancesOf(newer.database)).not.toEqual([]);
  await countByOwnTimes(database, newer.database);
  expect(await seeAtLatestStart(database)).toBeGreaterThan(0);
  expect(await countNegativeHours(database)).toBeGreaterThan(0);
  expect(await migrate(database.url)).not.toEqual([]);
  expect(await startBalancesOf(database)).toEqual(await startBalancesOf(newer.database));
  expect(await checkInvariant4(database.pool)).toEqual([]);
  expect(differencesOf(expected, await takeSnapshot(database.pool))).toEqual([]);
  await followToTheTip({ ...newer, database });
});
