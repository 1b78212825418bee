import { createTestDatabase } from '@kasgres/database/testing';
import { expect, onTestFinished, test } from 'vitest';
import { CHAIN_TABLES } from './discard-index.ts';

/** Tables that operators, migrations or a load fill. */
const KEPT = [
  'analysts',
  'api_key_usage',
  'api_keys',
  'attributions',
  'deferred_indexes',
  // An index that is discarded is in its first catch-up, and has one generation.
  'generations',
  'loaded_utxos',
  'meta',
  'migrations',
  'notification_secret',
  'rate_limits',
  'webhooks',
  'webhook_deliveries',
  // Only those of the chain are deleted.
  'subnetworks',
  'tag_labels',
  'tag_sources',
  'tags',
  'template_names',
  'template_sources',
  'utxo_set_load',
];

test('it either truncates or keeps each table', async () => {
  const { pool, drop } = await createTestDatabase();
  onTestFinished(drop);
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        order by 1`,
  );
  expect([...CHAIN_TABLES, ...KEPT].toSorted()).toEqual(rows.map(({ name }) => name));
});
