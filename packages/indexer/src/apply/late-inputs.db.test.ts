import { createTestDatabase, type TestDatabase } from '@kasgres/database';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type NewlyWritten, resolveLateInputs } from './late-inputs.ts';

const EARLY = 1;
const LATE = 2;
const OWN_SCRIPT = 11;
const OTHER_SCRIPT = 12;

let database: TestDatabase;
let client: PoolClient;
beforeEach(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
});
afterEach(async () => {
  client.release();
  await database.drop();
});

async function writeTransaction(key: number, outputs: { script: number; amount: number }[]): Promise<void> {
  await client.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas, payload, storage_mass, compute_mass)
     values ($1, $2, $2, 0, 0, 0, 0, '', 0, 0)`,
    [key, hashOf(key)],
  );
  for (const [index, { script, amount }] of outputs.entries()) {
    await client.query(
      'insert into transaction_outputs (transaction_id, index, amount, script_id) values ($1, $2, $3, $4)',
      [key, index, amount, script],
    );
  }
}

async function writeInput(key: number, index: number, previous: number, previousIndex: number): Promise<void> {
  await client.query(
    `insert into transaction_inputs (transaction_id, index, previous_transaction_hash, previous_index, signature_script,
       sequence, sig_op_count, compute_budget) values ($1, $2, $3, $4, '', 0, 1, 0)`,
    [key, index, hashOf(previous), previousIndex],
  );
}

function hashOf(key: number): Buffer {
  return Buffer.alloc(32, key);
}

async function newScripts(written: NewlyWritten): Promise<number[]> {
  const completed = await resolveLateInputs(client, written);
  return completed.flatMap(({ newScript }) => (newScript === null ? [] : [newScript]));
}

interface AddressRow {
  script_id: number;
  amount_sent: number;
  amount_received: number;
}

async function rowsOf(key: number): Promise<AddressRow[]> {
  const { rows } = await client.query<AddressRow>(
    `select script_id::int, amount_sent::int, amount_received::int from address_transactions
      where transaction_id = $1 order by script_id`,
    [key],
  );
  return rows;
}

test('outputs that arrive late complete inputs, and scripts that were not touched before are returned', async () => {
  await writeTransaction(EARLY, [{ script: OWN_SCRIPT, amount: 70 }]);
  await writeInput(EARLY, 0, LATE, 0);
  await writeInput(EARLY, 1, LATE, 1);
  await writeInput(EARLY, 2, LATE, 2);
  await writeTransaction(LATE, [
    { script: OWN_SCRIPT, amount: 50 },
    { script: OTHER_SCRIPT, amount: 30 },
  ]);
  await client.query(
    'insert into transaction_outputs (transaction_id, index, amount, script_id) values ($1, 2, 5, $2)',
    [LATE, OTHER_SCRIPT],
  );

  expect(await newScripts({ from: LATE, preBootstrap: [] })).toEqual([OTHER_SCRIPT]);
  expect(await rowsOf(EARLY)).toEqual([
    { script_id: OWN_SCRIPT, amount_sent: 50, amount_received: 70 },
    { script_id: OTHER_SCRIPT, amount_sent: 35, amount_received: 0 },
  ]);
  const { rows } = await client.query('select fee::int from transactions where id = $1', [EARLY]);
  expect(rows).toEqual([{ fee: 15 }]);
  expect(await newScripts({ from: LATE, preBootstrap: [] })).toEqual([]);
});

test('an input of an output that does not exist touches no script', async () => {
  await writeTransaction(EARLY, [{ script: OWN_SCRIPT, amount: 70 }]);
  await writeInput(EARLY, 0, LATE, 9);
  await writeTransaction(LATE, [{ script: OTHER_SCRIPT, amount: 30 }]);
  expect(await newScripts({ from: LATE, preBootstrap: [] })).toEqual([]);
  const { rows } = await client.query(
    'select t.fee, i.script_id from transactions t join transaction_inputs i on i.transaction_id = t.id',
  );
  expect(rows).toEqual([{ fee: null, script_id: null }]);
});

test('a pre-bootstrap transaction that a block carries again completes the inputs that spend its other outputs', async () => {
  await writeTransaction(LATE, [{ script: OWN_SCRIPT, amount: 10 }]);
  await client.query(
    `insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index, signature_script,
       sequence, sig_op_count, compute_budget) values ($1, 0, $2, 1, '', 0, 1, 0)`,
    [LATE, EARLY],
  );
  await client.query('insert into earlier_transactions values ($1, $2)', [EARLY, hashOf(EARLY)]);
  await writeTransaction(EARLY, [
    { script: OWN_SCRIPT, amount: 70 },
    { script: OTHER_SCRIPT, amount: 12 },
  ]);
  expect(await newScripts({ from: LATE + 1, preBootstrap: [EARLY] })).toEqual([OTHER_SCRIPT]);
  expect(await rowsOf(LATE)).toEqual([
    { script_id: OWN_SCRIPT, amount_sent: 0, amount_received: 10 },
    { script_id: OTHER_SCRIPT, amount_sent: 12, amount_received: 0 },
  ]);
  const { rows } = await client.query('select fee::int from transactions where id = $1', [LATE]);
  expect(rows).toEqual([{ fee: 2 }]);
});
