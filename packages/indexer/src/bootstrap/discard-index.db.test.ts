import { createTestDatabase } from '@kasgres/database';
import { expect, onTestFinished, test } from 'vitest';
import { CHAIN_TABLES } from './discard-index.ts';

/** What people and the schema have put there, and what belongs to the database or to a load. */
const KEPT = [
  'analysts',
  'api_key_usage',
  'api_keys',
  'attributions',
  'deferred_indexes',
  'loaded_utxos',
  'meta',
  'migrations',
  'rate_limits',
  // The built-in ones; those of the chain are deleted.
  'subnetworks',
  'tag_labels',
  'tag_sources',
  'tags',
  'utxo_set_load',
];

test('a table is either emptied with a newborn index, or kept', async () => {
  const { pool, drop } = await createTestDatabase();
  onTestFinished(drop);
  const { rows } = await pool.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  expect([...CHAIN_TABLES, ...KEPT].toSorted()).toEqual(rows.map(({ name }) => name));
});
