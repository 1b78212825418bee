import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceState } from './write-bootstrap.ts';

const HOUR_MS = 3_600_000n;
const HOUR = 480_000n;
/** Half a minute into an hour. */
const TIME = HOUR * HOUR_MS + 30_000n;
const EARLIER = TIME - 5n * HOUR_MS;

const [SPENDER, RECEIVER, BOTH, NEWCOMER, IDLE, REVERTED] = [1, 2, 3, 4, 5, 6] as const;
const [KEPT, ENDED, ACCEPTED_AGAIN, APPEARED, UNACCEPTED] = [10, 11, 12, 20, 15] as const;
/** The least key of the new set. */
const FROM = 20;

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

interface Utxo {
  transaction: number;
  script: number;
  amount: number;
  daaScore?: number;
}

async function writeUtxos(table: 'utxos' | 'bootstrap_utxos', utxos: readonly Utxo[]): Promise<void> {
  for (const { transaction, script, amount, daaScore = 7 } of utxos) {
    await client.query(
      `insert into ${table} (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
       values ($1, 0, $2, $3, $4, false)`,
      [transaction, script, amount, daaScore],
    );
  }
}

/** @param hour of the change that made the balance */
async function writeBalance(
  script: number,
  {
    balance,
    utxos,
    seen = EARLIER,
    hour = HOUR - 5n,
  }: { balance: number; utxos: number; seen?: bigint | null; hour?: bigint },
): Promise<void> {
  await client.query(
    `insert into balances (script_id, balance, utxo_count, transaction_count, accepted_count,
      first_seen, last_seen, last_change, last_change_hour)
     values ($1, $2, $3, 1, 1, $4, $4, $2, $5)`,
    [script, balance, utxos, seen, hour],
  );
}

async function read(query: string): Promise<unknown[]> {
  return (await client.query<Record<string, unknown>>({ text: query })).rows.map((row) => Object.values(row));
}

test('it changes only the differences of the two sets', async () => {
  await client.query(
    `insert into scripts select id, 0, int4send(id), 'pubkey', 'address ' || id from generate_series(1, 6) id`,
  );
  await client.query(`insert into tags (address, name) values ('address ${NEWCOMER}', 'somebody')`);
  await writeUtxos('utxos', [
    { transaction: KEPT, script: BOTH, amount: 100 },
    { transaction: ENDED, script: SPENDER, amount: 70 },
    { transaction: ENDED + 100, script: BOTH, amount: 8 },
    { transaction: ENDED + 101, script: REVERTED, amount: 6 },
    { transaction: ACCEPTED_AGAIN, script: RECEIVER, amount: 5 },
  ]);
  await writeBalance(SPENDER, { balance: 70, utxos: 1 });
  await writeBalance(RECEIVER, { balance: 5, utxos: 1, hour: HOUR });
  await writeBalance(BOTH, { balance: 108, utxos: 2 });
  await writeBalance(IDLE, { balance: 0, utxos: 0, seen: null });
  await writeBalance(REVERTED, { balance: 6, utxos: 1 });
  // A reorg removed the blocks of a later hour than the gap ends in.
  await client.query(
    `insert into previous_balance_changes select script_id, last_change_hour, last_change
      from balances where script_id = ${REVERTED};
     update balances set last_change_hour = ${HOUR + 1n}, last_change = 0
       where script_id = ${REVERTED}`,
  );
  await writeUtxos('bootstrap_utxos', [
    { transaction: KEPT, script: BOTH, amount: 100 },
    { transaction: ACCEPTED_AGAIN, script: RECEIVER, amount: 5, daaScore: 9 },
    { transaction: APPEARED, script: RECEIVER, amount: 30, daaScore: 9 },
    { transaction: APPEARED + 1, script: BOTH, amount: 8, daaScore: 9 },
    { transaction: APPEARED + 2, script: NEWCOMER, amount: 2, daaScore: 9 },
  ]);
  await client.query(
    `insert into clusters (id, size, balance) values (${SPENDER}, 2, 75);
     insert into cluster_members
       values (${SPENDER}, null, null, ${RECEIVER}, ${RECEIVER}),
         (${RECEIVER}, ${SPENDER}, 1, ${SPENDER}, ${SPENDER});
     insert into checkpoint values (true, 1, 1, 2, 30, 6, 2, 189, '{}', false, 0, null, now());
     insert into network_intervals
       select length, start, 1, 1, 0, 0, 0, 0, 0, 189, 0, 0, 1
         from (values ('minute'::interval_length, ${TIME - 30_000n}), ('hour', ${TIME - 30_000n}),
           ('hour', ${TIME - 30_000n - HOUR_MS})) i (length, start)`,
  );
  // The spender of a UTXO of the gap was seen before the gap.
  await client.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
       values (${UNACCEPTED}, 'a', 'a', 0, 0, 0, 0, '', 0, 0, 0);
     insert into transaction_inputs (transaction_id, index, previous_transaction_hash,
       previous_index, signature_script, sequence, sig_op_count, compute_budget)
         values (${UNACCEPTED}, 0, 'b', 0, '', 0, 1, 0);
     insert into pre_bootstrap_transactions values (${APPEARED + 2}, 'b')`,
  );
  await client.query('begin');
  await replaceState(client, { chainTime: TIME, fromTransactionId: FROM, isGap: true });
  await client.query('commit');

  expect(await read('select transaction_id, script_id, amount, block_daa_score from utxos order by 1')).toEqual(
    await read('select transaction_id, script_id, amount, block_daa_score from bootstrap_utxos order by 1'),
  );
  expect(
    await read(
      `select script_id::int, balance::int, utxo_count::int, transaction_count::int,
        accepted_count::int, first_seen, last_seen, is_tagged
         from balances order by 1`,
    ),
  ).toEqual([
    [SPENDER, 0, 0, 1, 1, EARLIER, EARLIER, false],
    [RECEIVER, 35, 2, 1, 1, EARLIER, EARLIER, false],
    [BOTH, 108, 2, 1, 1, EARLIER, EARLIER, false],
    [NEWCOMER, 2, 1, 1, 0, TIME, TIME, true],
    [IDLE, 0, 0, 1, 1, null, null, false],
    [REVERTED, 0, 0, 1, 1, EARLIER, EARLIER, false],
  ]);
  const hours = (relation: string) =>
    read(`select script_id::int, hour - ${HOUR}, change::int from ${relation} where change <> 0 order by 1, 2`);
  expect(await hours('balance_changes')).toEqual([
    [SPENDER, -5, 70],
    [SPENDER, 0, -70],
    [RECEIVER, 0, 35],
    [BOTH, -5, 108],
    [NEWCOMER, 0, 2],
    [REVERTED, -5, 6],
    [REVERTED, 0, -6],
  ]);
  expect(await hours('previous_balance_changes')).toEqual([
    [SPENDER, -5, 70],
    [REVERTED, -5, 6],
    [REVERTED, 0, -6],
  ]);
  expect(await read('select balance::int from clusters')).toEqual([[35]]);
  expect(await read('select circulating_sompi::int from checkpoint')).toEqual([[145]]);
  expect(await read('select supply::int from network_intervals order by start desc, length')).toEqual([
    [145],
    [145],
    [189],
  ]);
  expect(await read('select script_id::int, amount::int from transaction_inputs')).toEqual([[NEWCOMER, 2]]);
});
