import { open } from 'node:fs/promises';
import { inTransaction } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { copyCommittedSet } from './utxo-commitment.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

test('it reports a full disk, and the pool drops the connection in the middle of the copy', async () => {
  const { pool } = database;
  const client = await pool.connect();
  // Temporary tables come first in the search path.
  await client.query(`
    create temporary table blocks as select 1 as id, ''::bytea as hash,
      ''::bytea as utxo_commitment;
    create temporary table bootstrap_blocks as select 1 as block_id, 0 as chain_index;
    create temporary table bootstrap_utxos as
      select i::bigint as transaction_id, 0 as index, 0::bigint as amount,
        null::bigint as script_id, 0::bigint as block_daa_score, false as is_coinbase,
        null::bytea as covenant_id
      from generate_series(1, 300000) i`);
  const file = await open('/dev/null');
  const full = new Error('ENOSPC: no space left on device, write');
  vi.spyOn(Object.getPrototypeOf(file) as typeof file, 'appendFile').mockRejectedValue(full);
  await file.close();
  await expect(inTransaction(client, () => copyCommittedSet(client, 'bootstrap_utxos'))).rejects.toThrow(full);
  client.release();
  expect(pool.totalCount).toBe(0);
});
