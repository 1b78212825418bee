import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SIGNATURE_SCRIPTS } from './read.ts';

const TRANSACTION = 1;
const ACCEPTING_INDEX = 5;

let database: TestDatabase;
let client: PoolClient;

beforeAll(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
  // A chain block merges two of the blocks that contain a transaction: one has its first variant,
  // the other its second. A third variant is elsewhere.
  await client.query(`
    create temporary table chain_blocks as select ${ACCEPTING_INDEX}::bigint as index,
      10::bigint as block_id;
    create temporary table blocks as select 10::bigint as id, array[11::bigint] as merge_set_blues,
      array[12::bigint] as merge_set_reds;
    create temporary table block_transactions as
      select * from (values (11::bigint, ${TRANSACTION}::bigint, 0), (12, ${TRANSACTION}, 1),
        (13, ${TRANSACTION}, 2)) contained (block_id, transaction_id, variant);
    insert into transaction_variant_inputs values
      (${TRANSACTION}, 1, 0, '\\x01', 0, 0), (${TRANSACTION}, 2, 0, '\\x02', 0, 0)`);
});
afterAll(async () => {
  client.release();
  await database.drop();
});

async function signatures(acceptedVariant: number | null): Promise<string[]> {
  const { rows } = await client.query<{ signature_scripts: Buffer[] }>(
    `select signed.* from (select ${TRANSACTION}::bigint as id, $1::integer as accepted_variant,
      ${ACCEPTING_INDEX}::bigint as accepting_index) t
      cross join (select ${TRANSACTION}::bigint as transaction_id, 0 as index,
        '\\x00'::bytea as signature_script) i
      cross join lateral (${SIGNATURE_SCRIPTS}) signed`,
    [acceptedVariant],
  );
  return (rows[0]?.signature_scripts ?? []).map((script) => script.toString('hex')).sort();
}

test('only the accepted variant of a transaction signs it', async () => {
  expect(await signatures(0)).toEqual(['00']);
  expect(await signatures(2)).toEqual(['02']);
});

test('while the accepted variant is unknown, those in the mergeset sign it, and none that anybody mined elsewhere', async () => {
  expect(await signatures(null)).toEqual(['00', '01']);
});
