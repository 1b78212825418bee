/**
 * Invariants 4 and 5 of script activity and network intervals in reorgs that seen_before does not
 * cover, and of the balances of clusters.
 */
import { insertCluster } from '@kasgres/database/testing';
import { finishFirstCatchUp } from '@kasgres/indexer/testing';
import { expect, test } from 'vitest';
import { FILLED_TABLES } from '@kasgres/state';
import { checkInvariant4 } from '@kasgres/verification';
import { countUnmerged } from '../support/count-unmerged.ts';
import { atRest, expectRight, createHarness } from '../support/harness.ts';
import { mineRewards, payInLane } from '../support/lane-payments.ts';
import { startIndexing, type SimulatedDag } from '../support/simulated-dag.ts';

const STEPS = 12;
/** This chain fills none of them; test/api/repeated-transactions.db.test.ts does. */
const OF_ATTACKS: ReadonlySet<string> = new Set(['repeated_transactions', 'contested_outputs']);

/** The simulation's own reorgs are shallow: a deep one replaces the chain. */
function extendChain(simulatedDag: SimulatedDag, step: number): void {
  if (step % 6 === 5) simulatedDag.reorganise();
  else simulatedDag.mine(8);
}

test('reorgs deeper than seen_before, or of blocks of the first catch-up, restore script activity and intervals', async () => {
  const harness = await createHarness('rollups without seen_before');
  const { simulatedDag, database, node } = harness;
  const { pool } = database;
  simulatedDag.mine(60);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  for (let step = 0; step < STEPS; step += 1) {
    // Removes none, every second, and all rows.
    if (step % 3 !== 0) await pool.query('delete from seen_before where chain_index % $1 = 0', [step % 3]);
    extendChain(simulatedDag, step);
    await atRest(database, node, indexer);
    expect(await checkInvariant4(pool)).toEqual([]);
  }
  await indexer.stop();
  await expectRight(harness);
});

const templateBy = (column: string): string =>
  `jsonb_build_object('${column}', (select t.template from program_templates t where t.id = r.${column}))`;
const COVENANT = `jsonb_build_object('covenant_id',
  (select c.covenant_id from covenants c where c.id = r.covenant_id))`;

/**
 * Covenants, templates and kinds of inscriptions get new keys when they are written again, so rows
 * that refer to them have the ids instead.
 */
const WITHOUT_NEW_KEYS: Readonly<Record<string, string>> = {
  inscription_kinds: `to_jsonb(r) - 'id'`,
  inscriptions: `to_jsonb(r) || (select jsonb_build_object('kind_id', to_jsonb(k) - 'id')
    from inscription_kinds k where k.id = r.kind_id)`,
  program_templates: `to_jsonb(r) - 'id'`,
  programs: `to_jsonb(r) || ${templateBy('template_id')}`,
  covenants: `to_jsonb(r) - 'id' || ${templateBy('template_id')}`,
  covenant_events: `to_jsonb(r) || ${templateBy('template_id')} || ${templateBy('previous_template_id')} || ${COVENANT}`,
};

test('a first catch-up writes the same rows with the candidates that it noted as from all rows', async () => {
  const { simulatedDag, database, node } = await createHarness('candidates of a first catch-up');
  const { pool } = database;
  simulatedDag.mine(200);
  mineRewards(simulatedDag, 5);
  for (let lane = 0; lane < 5; lane += 1) payInLane(simulatedDag, lane % 2);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  // Only batches after the first catch-up write `seen_before` and `unmerged_touches`, so their rows
  // depend on timing.
  await countUnmerged(pool);
  const tables = FILLED_TABLES.filter((table) => table !== 'seen_before' && table !== 'unmerged_touches');
  const select = (table: string) =>
    pool.query<{ row: string }>(
      `select (${WITHOUT_NEW_KEYS[table] ?? 'to_jsonb(r)'})::text as row from ${table} r order by 1`,
    );
  const read = async (): Promise<string[][]> =>
    (await Promise.all(tables.map(select))).map(({ rows }) => rows.map(({ row }) => row));
  const written = await read();
  for (const [i, rows] of written.entries()) {
    if (!OF_ATTACKS.has(tables[i] as string)) expect(rows.length, tables[i]).toBeGreaterThan(0);
  }
  await pool.query('update checkpoint set first_catch_up = true');
  const [client, other] = [await pool.connect(), await pool.connect()];
  await finishFirstCatchUp([client, other]).finally(() => [client, other].forEach((each) => each.release()));
  expect(await read()).toEqual(written);
});

test('seen_before has rows of the latest chain blocks only', async () => {
  const { simulatedDag, database, node } = await createHarness('seen_before');
  const { pool } = database;
  simulatedDag.mine(40);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await pool.query(
    `insert into seen_before select chain_index - above, '{}', '{}'
      from checkpoint, unnest('{35000,37000}'::int[]) above`,
  );
  // Old rows are deleted at every hundredth chain block.
  while (simulatedDag.node.dag.chainBlocks.length < 110) simulatedDag.mine(10);
  await atRest(database, node, indexer);
  await indexer.stop();
  const { rows } = await pool.query<{ old: bigint; kept: bigint; chain: bigint }>(
    `select count(*) filter (where s.chain_index < 0) as old, count(*) filter (where s.chain_index > 0) as kept,
       (select chain_index from checkpoint) as chain from seen_before s`,
  );
  expect(rows).toMatchObject([{ old: 1n }]);
  expect(rows[0]?.kept).toBeGreaterThan(0n);
  expect(rows[0]?.kept).toBeLessThan(rows[0]?.chain ?? 0n);
});

test('it counts a transaction when its first block is merged, or after 300 further blocks', async () => {
  const { simulatedDag, database, node } = await createHarness('unmerged blocks');
  const { pool } = database;
  simulatedDag.mine(20);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  const mergedAndUncounted = `select from unmerged_touches join blocks on id = block_id
    where merging_block_id is not null`;
  for (let step = 0; step < STEPS; step += 1) {
    extendChain(simulatedDag, step);
    await atRest(database, node, indexer);
    // The sink, at least, is not merged.
    expect((await pool.query('select from unmerged_touches')).rowCount).toBeGreaterThan(0);
    expect((await pool.query(mergedAndUncounted)).rowCount).toBe(0);
    expect(await checkInvariant4(pool)).toEqual([]);
  }
  await pool.query(
    `with script as (select script_id from balances where transaction_count > 1 limit 1),
     old as (insert into unmerged_touches select -1000, array[script_id] from script)
     update balances set transaction_count = transaction_count - 1
       where script_id = (select script_id from script)`,
  );
  expect(await checkInvariant4(pool)).toEqual([]);
  simulatedDag.mine(2);
  await atRest(database, node, indexer);
  await indexer.stop();
  expect((await pool.query('select from unmerged_touches where block_id < 0')).rowCount).toBe(0);
  expect(await checkInvariant4(pool)).toEqual([]);
});

test('balances of clusters follow those of their members, through reorgs and another catch-up', async () => {
  const harness = await createHarness('balances of clusters');
  const { simulatedDag, database, node } = harness;
  const { pool } = database;
  simulatedDag.mine(60);
  const first = startIndexing(simulatedDag, database.url);
  await atRest(database, node, first);
  const { rows } = await pool.query<{ script_id: bigint }>(
    'select script_id from balances order by accepted_count desc limit 12',
  );
  const members = rows.map(({ script_id }) => script_id);
  await insertCluster(pool, members.slice(0, 9));
  await insertCluster(pool, members.slice(9));
  const balances = async (): Promise<bigint[]> => {
    const found = await pool.query<{ balance: bigint }>('select balance from clusters order by id');
    return found.rows.map(({ balance }) => balance);
  };
  const before = await balances();
  for (let step = 0; step < STEPS; step += 1) {
    extendChain(simulatedDag, step);
    await atRest(database, node, first);
    expect(await checkInvariant4(pool)).toEqual([]);
  }
  const after = await balances();
  expect(after).not.toEqual(before);
  await first.stop();

  await pool.query('update checkpoint set first_catch_up = true');
  await pool.query('update clusters set balance = -1');
  const second = startIndexing(simulatedDag, database.url);
  simulatedDag.mine(2);
  await atRest(database, node, second);
  await second.stop();
  expect(await checkInvariant4(pool)).toEqual([]);
});
