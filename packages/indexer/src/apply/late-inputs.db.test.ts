import { collidingBytes, createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveAllLateInputs, resolveLateInputs } from './late-inputs.ts';

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
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     values ($1, $2, $2, 0, 0, 0, 0, '', 0, 0, 0)`,
    [key, hashOf(key)],
  );
  for (const [index, { script, amount }] of outputs.entries()) {
    await client.query(
      'insert into transaction_outputs (transaction_id, index, amount, script_id) values ($1, $2, $3, $4)',
      [key, index, amount, script],
    );
  }
}

async function writeInputs(key: number, previous: number, { from = 0, count = 1, at = 0 } = {}): Promise<void> {
  await client.query(
    `insert into transaction_inputs (transaction_id, index, previous_transaction_hash, previous_index, signature_script,
       sequence, sig_op_count, compute_budget)
     select $1, $5 + n, $2, $3 + n, '', 0, 1, 0 from generate_series(0, $4::integer - 1) n`,
    [key, hashOf(previous), from, count, at],
  );
}

function hashOf(key: number): Buffer {
  const hash = Buffer.alloc(32, 1);
  hash.writeUInt32LE(key);
  return hash;
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

async function resolve(
  from: number,
  {
    preBootstrap = [],
    accepted = [],
    isCutting = false,
  }: { preBootstrap?: number[]; accepted?: number[]; isCutting?: boolean } = {},
): Promise<number[]> {
  const batch = { from, preBootstrap, accepted, written: 0 };
  const { scripts } = await resolveLateInputs(client, batch, () => isCutting);
  return scripts;
}

async function unresolvedOf(key: number): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::integer as count from transaction_inputs where transaction_id = $1 and amount is null',
    [key],
  );
  return rows[0]?.count ?? -1;
}

const countLate = async (): Promise<number> => (await client.query('select from late_transactions')).rowCount ?? -1;
const feeOf = async (key: number): Promise<unknown> =>
  (await client.query<{ fee: unknown }>('select inputs_minus_outputs($1)::integer as fee', [key])).rows[0]?.fee;

test('outputs that arrive late complete inputs, and scripts that were not touched before are returned', async () => {
  await writeTransaction(EARLY, [{ script: OWN_SCRIPT, amount: 70 }]);
  await writeInputs(EARLY, LATE, { count: 3 });
  await writeTransaction(LATE, [
    { script: OWN_SCRIPT, amount: 50 },
    { script: OTHER_SCRIPT, amount: 30 },
    { script: OTHER_SCRIPT, amount: 5 },
  ]);
  expect(await feeOf(EARLY)).toBeNull();

  expect(await resolve(LATE)).toEqual([OTHER_SCRIPT]);
  expect(await rowsOf(EARLY)).toEqual([
    { script_id: OWN_SCRIPT, amount_sent: 50, amount_received: 70 },
    { script_id: OTHER_SCRIPT, amount_sent: 35, amount_received: 0 },
  ]);
  expect(await feeOf(EARLY)).toBe(15);
  expect(await countLate()).toBe(0);
  expect(await resolve(LATE)).toEqual([]);
});

test('late inputs whose locks a cut holds wait for it, and a batch does not', async () => {
  await writeTransaction(EARLY, [{ script: OWN_SCRIPT, amount: 70 }]);
  await writeInputs(EARLY, LATE);
  await writeTransaction(LATE, [{ script: OTHER_SCRIPT, amount: 50 }]);
  const cut = await database.pool.connect();
  await cut.query('begin');
  await cut.query('update transaction_inputs set previous_transaction_hash = previous_transaction_hash');
  await client.query("set lock_timeout = '1s'");
  expect(await resolve(LATE, { isCutting: true })).toEqual([]);
  expect(await countLate()).toBe(1);
  await cut.query('rollback');
  cut.release();
  expect(await resolve(LATE + 1)).toEqual([OTHER_SCRIPT]);
  expect(await countLate()).toBe(0);
});

test('an input of an output that does not exist touches no script', async () => {
  await writeTransaction(EARLY, [{ script: OWN_SCRIPT, amount: 70 }]);
  await writeInputs(EARLY, LATE, { from: 9 });
  await writeTransaction(LATE, [{ script: OTHER_SCRIPT, amount: 30 }]);
  expect(await resolve(LATE)).toEqual([]);
  const { rows } = await client.query(
    'select previous_transaction_id::integer, previous_transaction_hash, amount, script_id from transaction_inputs',
  );
  expect(rows).toEqual([
    { previous_transaction_id: LATE, previous_transaction_hash: Buffer.alloc(0), amount: null, script_id: null },
  ]);
  expect(await countLate()).toBe(0);
});

test('a pre-bootstrap transaction that a block carries again completes the inputs that spend its other outputs', async () => {
  await writeTransaction(LATE, [{ script: OWN_SCRIPT, amount: 10 }]);
  for (const [index, previousIndex] of [1, 7].entries()) {
    await client.query(
      `insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index, signature_script,
         sequence, sig_op_count, compute_budget) values ($1, $2, $3, $4, '', 0, 1, 0)`,
      [LATE, index, EARLY, previousIndex],
    );
  }
  await client.query('insert into pre_bootstrap_transactions values ($1, $2)', [EARLY, hashOf(EARLY)]);
  await writeTransaction(EARLY, [
    { script: OWN_SCRIPT, amount: 70 },
    { script: OTHER_SCRIPT, amount: 12 },
  ]);
  expect(await resolve(LATE + 1, { preBootstrap: [EARLY] })).toEqual([OTHER_SCRIPT]);
  expect(await rowsOf(LATE)).toEqual([
    { script_id: OWN_SCRIPT, amount_sent: 0, amount_received: 10 },
    { script_id: OTHER_SCRIPT, amount_sent: 12, amount_received: 0 },
  ]);
  expect(await unresolvedOf(LATE)).toBe(1);
  expect(await countLate()).toBe(0);
});

/**
 * Transactions with the keys 10 and more have 600 inputs each, which spend all outputs of a late
 * one.
 */
async function saveUp(transactions: number, late: number): Promise<void> {
  for (let n = 0; n < transactions; n += 1) {
    await writeTransaction(10 + n, [{ script: OWN_SCRIPT, amount: 1 }]);
    await writeInputs(10 + n, late, { count: 600 });
  }
  await writeTransaction(late, []);
  await client.query(
    'insert into transaction_outputs (transaction_id, index, amount, script_id) select $1, n, 2, $2 from generate_series(0, 599) n',
    [late, OTHER_SCRIPT],
  );
}

test('a call completes a bounded number of inputs, and the next calls continue', async () => {
  await saveUp(4, 100);
  expect(await resolve(100)).toEqual([OTHER_SCRIPT, OTHER_SCRIPT]);
  expect([await unresolvedOf(10), await unresolvedOf(11), await unresolvedOf(12)]).toEqual([0, 200, 600]);
  expect(await countLate()).toBe(1);
  expect(await resolve(101)).toEqual([OTHER_SCRIPT, OTHER_SCRIPT]);
  expect(await unresolvedOf(13)).toBe(400);
  expect(await resolve(101)).toEqual([]);
  expect(await unresolvedOf(13)).toBe(0);
  expect(await countLate()).toBe(0);
  expect(await feeOf(13)).toBe(1199);
});

test('the inputs of a transaction that is accepted are completed at once', async () => {
  await saveUp(4, 100);
  expect(await resolve(100, { accepted: [13] })).toEqual([OTHER_SCRIPT, OTHER_SCRIPT, OTHER_SCRIPT]);
  expect([await unresolvedOf(13), await unresolvedOf(12)]).toEqual([0, 600]);
  while ((await countLate()) > 0) await resolve(101);
  expect(await unresolvedOf(12)).toBe(0);
});

test('all inputs are completed at the end of a first catch-up, with the fees of accepted transactions', async () => {
  await saveUp(4, 100);
  await client.query('update transactions set accepting_index = 5 where id = 11');
  await resolveAllLateInputs(client);
  expect([await unresolvedOf(10), await unresolvedOf(13), await countLate()]).toEqual([0, 0, 0]);
  const { rows } = await client.query('select id::integer, fee::integer from transactions where fee is not null');
  expect(rows).toEqual([{ id: 11, fee: 1199 }]);
});

test('the end of a first catch-up takes no longer for names that Postgres gives the same hash', async () => {
  const names = collidingBytes(20_000, Buffer.alloc(32));
  await client.query(
    `insert into transaction_inputs (transaction_id, index, previous_transaction_hash, previous_index, signature_script,
       sequence, sig_op_count, compute_budget)
     select n, 0, substring($1::bytea from (n - 1) * 32 + 1 for 32), 0, '', 0, 1, 0
       from generate_series(1, $2::integer) n`,
    [Buffer.concat(names), names.length],
  );
  await client.query('insert into pre_bootstrap_transactions values (30000, $1)', [names[77]]);
  await client.query('analyze transaction_inputs');
  await client.query("set statement_timeout = '3s'");
  await resolveAllLateInputs(client);
  const { rows } = await client.query(
    'select transaction_id::integer as id, previous_transaction_id::integer as previous from transaction_inputs where previous_transaction_id is not null',
  );
  expect(rows).toEqual([{ id: 78, previous: 30_000 }]);
});

test('every statement looks rows up by an index, regardless of what else is unresolved', async () => {
  // As many inputs that nothing will ever complete, of one transaction that does not exist, and as
  // many resolved ones.
  await client.query(
    `insert into transaction_inputs (transaction_id, index, previous_transaction_hash, previous_index, signature_script,
       sequence, sig_op_count, compute_budget) select 1000 + n, 0, $1, n, '', 0, 1, 0
         from generate_series(1, 40000) n`,
    [hashOf(9999)],
  );
  await client.query(
    `insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index,
       signature_script, sequence, sig_op_count, compute_budget, amount,
       script_id) select 50000 + n, 0, n, 0, '', 0, 1, 0, 1, 1 from generate_series(1, 40000) n`,
  );
  await client.query(
    'insert into transaction_outputs (transaction_id, index, amount, script_id) select 50000 + n / 1000, n % 1000, 1, n from generate_series(1, 80000) n',
  );
  await client.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     select 200000 + n, sha256(n::text::bytea), sha256(n::text::bytea), 0, 0, 0, 0, '', 0, 0, 0
       from generate_series(1, 40000) n`,
  );
  await saveUp(2, 100_000);
  await client.query('vacuum analyze transactions, transaction_inputs, transaction_outputs');
  const plans: string[] = [];
  const explaining = {
    query: async (text: string, values: unknown[] = []) => {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return client.query(text, values);
    },
  } as unknown as PoolClient;
  const batch = { from: 240_000, preBootstrap: [100_000], accepted: [11] as never, written: 0 };
  await client.query('insert into late_transactions (id, transaction_id) values (100000, $1)', [hashOf(100_000)]);
  await resolveLateInputs(explaining, batch);
  expect(plans.length).toBeGreaterThanOrEqual(6);
  expect(plans.filter((plan) => /Seq Scan on transaction/.test(plan))).toEqual([]);
  expect(
    plans.filter((plan) => plan.includes('Update on transaction_inputs')).every((plan) => plan.includes('Tid Scan')),
  ).toBe(true);
  expect(await unresolvedOf(11)).toBe(0);
});
