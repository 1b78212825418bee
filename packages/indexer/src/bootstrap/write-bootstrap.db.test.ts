import { collidingBytes, createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { scriptToAddress } from '@kasgres/kaspa';
import type { ClientBase, PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { firstKeyOf } from '../apply/generations.ts';
import { writeUtxoSet } from './write-bootstrap.ts';

const NEXT = { nextTransactionId: 100, nextScriptId: 10 };

let database: TestDatabase;
let client: PoolClient;

beforeEach(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
});

afterEach(async () => {
  client.release(true);
  await database.drop();
});

test('it gives each script and each transaction of the set a key, and each UTXO a row', async () => {
  await load(client, [
    { transaction: 'aa', index: 0, amount: 5, script: 'a1' },
    { transaction: 'aa', index: 256, amount: 6, script: 'b2' },
    { transaction: 'bb', index: 1, amount: 7, script: 'a1' },
  ]);
  expect(await write()).toEqual({ nextTransactionId: 102, nextScriptId: 12 });
  expect(await bootstrapUtxos()).toEqual([
    { transaction_id: 100n, hash: 'aa', index: 0, amount: 5n, script: 'a1' },
    { transaction_id: 100n, hash: 'aa', index: 256, amount: 6n, script: 'b2' },
    { transaction_id: 101n, hash: 'bb', index: 1, amount: 7n, script: 'a1' },
  ]);
});

test('it keeps known keys, and does not list an accepted transaction as pre-bootstrap', async () => {
  await client.query(
    `insert into scripts values (3, 0, '\\xa1', 'nonstandard', null), (4, 1, '\\xb2', 'nonstandard', null)`,
  );
  await addTransaction(client, 7, 'aa', 1);
  await addTransaction(client, 8, 'bb', null);
  await client.query(`insert into pre_bootstrap_transactions values (5, '\\xcc')`);
  await client.query('insert into bootstrap_utxos values (5, 9, 3, 1, 1, false)');
  await load(client, [
    { transaction: 'aa', index: 0, amount: 1, script: 'a1' },
    { transaction: 'bb', index: 0, amount: 2, script: 'b2' },
    { transaction: 'cc', index: 0, amount: 3, script: 'a1' },
    { transaction: 'dd', index: 0, amount: 4, script: 'c3' },
  ]);
  // It is of another version than the one that is known.
  expect(await write()).toEqual({ nextTransactionId: 101, nextScriptId: 12 });
  const utxos = await bootstrapUtxos();
  expect(utxos.map(({ transaction_id, amount }) => [transaction_id, amount])).toEqual([
    [5n, 3n],
    [7n, 1n],
    [8n, 2n],
    [100n, 4n],
  ]);
  const { rows } = await client.query<{ id: bigint }>('select id from pre_bootstrap_transactions order by id');
  expect(rows.map(({ id }) => id)).toEqual([5n, 8n, 100n]);
});

test('it gives keys above 32 bits, as those of later generations', async () => {
  const next = { nextTransactionId: firstKeyOf(1), nextScriptId: firstKeyOf(1) };
  await load(client, [{ transaction: 'aa', index: 0, amount: 5, script: 'a1' }]);
  expect(await writeUtxoSet(client, next)).toEqual({
    nextTransactionId: firstKeyOf(1) + 1,
    nextScriptId: firstKeyOf(1) + 1,
  });
  expect((await bootstrapUtxos()).map(({ transaction_id }) => transaction_id)).toEqual([BigInt(firstKeyOf(1))]);
});

/** A P2SH script and one without an address. */
const TEMPLATES = [`aa20${'00'.repeat(32)}87`, 'ab'.repeat(36)];

test('it takes no longer for scripts that Postgres gives the same hash', async () => {
  const scripts = TEMPLATES.flatMap((template) => collidingBytes(10_000, Buffer.from(template, 'hex')));
  const addresses = scripts.map((script) => scriptToAddress({ version: 0, script }, 'kaspasim'));
  for (const from of [1, 15_000]) {
    await client.query(
      `insert into loaded_utxos (transaction_id, index, amount, script_version, script, script_type,
         address, block_daa_score, is_coinbase)
       select sha256(n::text::bytea), 0, n, 0, script,
         case when address is null then 'nonstandard' else 'scripthash' end::script_type, address, 50, false
         from unnest($1::bytea[], $2::text[]) with ordinality loaded (script, address, n) where n >= $3`,
      [scripts, addresses, from],
    );
    await client.query(`insert into utxo_set_load select true, '', count(*), 0, '' from loaded_utxos`);
    await client.query("set statement_timeout = '6s'");
    // The second time, all of them are known.
    await client.query('begin');
    const { nextScriptId } = await writeUtxoSet(client, NEXT);
    expect(nextScriptId - NEXT.nextScriptId).toBe(from === 1 ? scripts.length : 0);
    await client.query('truncate loaded_utxos, utxo_set_load; commit');
    const { rows } = await client.query<{ same: boolean }>(
      `select bool_and(s.script = ($1::bytea[])[u.amount]) as same
         from bootstrap_utxos u join scripts s on s.id = u.script_id`,
      [scripts],
    );
    expect(rows).toEqual([{ same: true }]);
  }
});

async function write() {
  await client.query('begin');
  const keys = await writeUtxoSet(client, NEXT);
  await client.query('commit');
  return keys;
}

interface Utxo {
  transaction: string;
  index: number;
  amount: number;
  script: string;
}

async function load(to: ClientBase, utxos: Utxo[]): Promise<void> {
  for (const { transaction, index, amount, script } of utxos) {
    await to.query(
      `insert into loaded_utxos
        values (decode($1, 'hex'), $2, $3, 0, decode($4, 'hex'), 'nonstandard', null,
          50, false, null)`,
      [transaction, index, amount, script],
    );
  }
  await to.query(`insert into utxo_set_load values (true, '\\x00', $1, 0, '\\x00')`, [utxos.length]);
}

async function addTransaction(to: ClientBase, id: number, hash: string, acceptingIndex: number | null): Promise<void> {
  await to.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
       payload, storage_mass, compute_mass, json_bytes, accepting_index)
     values ($1, decode($2, 'hex'), '\\x00', 0, 0, 0, 0, '\\x', 0, 0, 0, $3)`,
    [id, hash, acceptingIndex],
  );
}

async function bootstrapUtxos() {
  const { rows } = await client.query<{
    transaction_id: bigint;
    hash: string | null;
    index: bigint;
    amount: bigint;
    script: string;
  }>(
    `select u.transaction_id, encode(e.transaction_id, 'hex') as hash, u.index, u.amount,
      encode(s.script, 'hex') as script
       from bootstrap_utxos u left join pre_bootstrap_transactions e on e.id = u.transaction_id
         join scripts s on s.id = u.script_id
      order by u.transaction_id, u.index`,
  );
  return rows;
}
