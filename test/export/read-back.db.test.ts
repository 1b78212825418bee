/**
 * Every table and every view, exported and read back by DuckDB and ClickHouse, holds what Postgres
 * says, under the right day.
 */
import { join } from 'node:path';
import { upsertTags } from '@kasgres/database';
import { insertCluster } from '@kasgres/database/testing';
import { TABLES, VIEWS } from '@kasgres/export';
import { expect, test } from 'vitest';
import { atRest, createHarness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { expectedFacts, expectedState, OWNERS } from './expected.ts';
import { hasReaders, readWithClickHouse, readWithDuckDb, typesOfReaders } from './readers/readers.ts';
import { expectWhole, exportTo, freshFolder } from './harness.ts';

const SETTINGS = [
  ['kaspa', VIEWS],
  ['public', TABLES],
] as const;

test.skipIf(!hasReaders).each(SETTINGS)('everything of schema %s is read back as it is', async (schema, relations) => {
  const harness = await createHarness(`export of ${schema}`);
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(300);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  const { pool } = database;
  const { rows } = await pool.query<{ id: bigint; address: string }>(
    'select id, address from scripts where address is not null order by id limit 4',
  );
  const [first, second] = rows.map(({ address }) => address) as [string, string];
  await upsertTags(pool, [
    { address: first, name: 'Ann', link: '', labels: [] },
    { address: second, name: 'Łódź 🚀', link: 'https://example.org', labels: ['exchange', 'a, "b"'] },
  ]);
  await insertCluster(pool, [rows[0]?.id ?? 0n, rows[2]?.id ?? 0n]);
  // The largest there can be.
  await pool.query('update blocks set nonce = 2::numeric ^ 64 - 1, blue_work = 2::numeric ^ 192 - 1 where id = 7');
  await pool.query('update transactions set lock_time = 2::numeric ^ 64 - 1 where accepting_index is not null');

  const names = Object.keys(relations).filter((name) => relations[name]?.kind !== 'left out');
  const directory = await freshFolder();
  const { manifest } = await exportTo(directory, database, {
    names,
    ...(schema === 'public' && { raw: true }),
    depth: 5n,
  });
  expect(await expectWhole(directory, database)).toBeGreaterThan(3_000);
  expect(Object.keys(manifest.facts).sort()).toEqual(Object.keys(OWNERS[schema]).sort());
  for (const [name, { columns, last, files }] of Object.entries(manifest.facts)) {
    if (files.length === 0) continue;
    const until = last?.index ?? -1;
    const expected = await expectedFacts(pool, { schema, name, columns, until });
    expect(new Set(expected.map((row) => row.at(-1))).size, `${name}: days`).toBeGreaterThan(3);
    expect(readWithClickHouse(join(directory, name, '*', '*.parquet'), columns, 'day'), name).toEqual(expected);
  }
  for (const [name, { columns, snapshots }] of Object.entries(manifest.states)) {
    const expected = await expectedState(pool, { schema, name, columns });
    expect(snapshots.map(({ rows: count }) => count)).toEqual([expected.length]);
    if (expected.length === 0) continue;
    const files = join(directory, name, '*', '*.parquet');
    expect(await readWithDuckDb(files, columns, 'snapshot'), name).toEqual(expected);
    const emptyForNull = expected.map((row) =>
      row.map((cell, i) => (cell === null && Object.values(columns)[i]?.startsWith('LIST') ? '' : cell)),
    );
    expect(readWithClickHouse(files, columns, 'snapshot'), name).toEqual(emptyForNull);
  }

  const typesOf = (name: string) => typesOfReaders(join(directory, name, '*', '*.parquet'));
  if (schema === 'public') {
    expect(await typesOf('blocks')).toMatchObject({
      hash: { duckdb: 'BLOB', clickhouse: 'Nullable(String)' },
      timestamp: { duckdb: 'BIGINT', clickhouse: 'Nullable(Int64)' },
      nonce: { duckdb: 'DECIMAL(38,0)', clickhouse: 'Nullable(Decimal(38, 0))' },
      blue_work: { duckdb: 'VARCHAR', clickhouse: 'Nullable(String)' },
      merge_set_blues: { duckdb: 'BIGINT[]', clickhouse: 'Array(Nullable(Int64))' },
      is_blue: { duckdb: 'BOOLEAN', clickhouse: 'Nullable(Bool)' },
    });
  } else {
    expect(await typesOf('outputs')).toMatchObject({
      transaction_id: { duckdb: 'VARCHAR', clickhouse: 'Nullable(String)' },
      amount_sompi: { duckdb: 'BIGINT', clickhouse: 'Nullable(Int64)' },
      amount_kas: { duckdb: 'DECIMAL(38,8)', clickhouse: 'Nullable(Decimal(38, 8))' },
      accepted_at: { duckdb: 'TIMESTAMP WITH TIME ZONE', clickhouse: "Nullable(DateTime64(3, 'UTC'))" },
    });
    expect(await typesOf('tags')).toMatchObject({
      labels: { duckdb: 'VARCHAR[]', clickhouse: 'Array(Nullable(String))' },
    });
  }
});

test('every view and every table is a fact, a state, or left out for a reason', async () => {
  const { database } = await createHarness('list');
  for (const [schema, relations] of SETTINGS) {
    const { rows } = await database.pool.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind in ('r', 'v', 'm', 'p') and not c.relispartition`,
      [schema],
    );
    expect(rows.map(({ name }) => name).sort()).toEqual(
      [...Object.keys(relations), ...(schema === 'public' ? ['migrations'] : [])].sort(),
    );
  }
});
