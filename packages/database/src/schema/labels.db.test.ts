/**
 * Automatic labels: each rule at its threshold, one step on either side, with rows written by hand.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const KAS = 100_000_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query(
    `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
      chain_time, highest_transaction, lowest_transaction, hash, blue_score)
     values (7, 1, 0, 0, '{}', ${NOW}, 0, 0, '', 0)`,
  );
  await database.pool.query(
    `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id,
       next_script_id, next_subnetwork_id, circulating_sompi, virtual_merge_set, first_catch_up,
       target_blue_score, updated_at)
     values (1, 7, 2, 1, 1, 1, 0, '{}', false, 0, now())`,
  );
});
afterAll(() => database.drop());

interface Sums {
  balance?: number;
  utxo_count?: number;
  accepted_count?: number;
  receiving_count?: number;
  sending_count?: number;
  coinbase_count?: number;
  received?: number;
  first_seen?: number | null;
  last_seen?: number | null;
}

const NOTHING = {
  balance: 0,
  utxo_count: 0,
  accepted_count: 0,
  receiving_count: 0,
  sending_count: 0,
  coinbase_count: 0,
  received: 0,
  first_seen: null,
  last_seen: null,
};

let nextScriptId = 1;

async function insertSums(sums: Sums): Promise<number> {
  const row = { script_id: nextScriptId, transaction_count: 0, sent: 0, ...NOTHING, ...sums };
  nextScriptId += 1;
  await database.pool.query(
    `insert into balances (${Object.keys(row).join(', ')}) select ${Object.keys(row)
      .map((_, place) => `$${place + 1}`)
      .join(', ')}`,
    Object.values(row),
  );
  return row.script_id;
}

async function labelsOf(scriptId: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ labels: string[] }>('select automatic_labels($1) as labels', [scriptId]);
  return rows[0]?.labels ?? [];
}

const labelsBy = async (sums: Sums): Promise<string[]> => labelsOf(await insertSums(sums));

test('a script without a row or without accepted transactions has no labels', async () => {
  expect(await labelsOf(1_000_000)).toEqual([]);
  expect(await labelsBy({})).toEqual([]);
});

test('miner: one coinbase output suffices', async () => {
  const paid = { accepted_count: 1, receiving_count: 1, first_seen: NOW, last_seen: NOW, received: KAS };
  expect(await labelsBy(paid)).toEqual([]);
  expect(await labelsBy({ ...paid, coinbase_count: 1 })).toEqual(['miner']);
});

test('reused: from the second payment on; several labels are sorted', async () => {
  expect(await labelsBy({ receiving_count: 2, received: KAS })).toEqual(['reused']);
  expect(await labelsBy({ receiving_count: 2, received: KAS, coinbase_count: 2 })).toEqual(['miner', 'reused']);
});

test('dormant: a year without a transaction, with a balance', async () => {
  const yearAgo = NOW - 365 * DAY_MS;
  expect(await labelsBy({ balance: 1, last_seen: yearAgo })).toEqual([]);
  expect(await labelsBy({ balance: 1, last_seen: yearAgo - 1 })).toEqual(['dormant']);
  expect(await labelsBy({ balance: 0, last_seen: yearAgo - 1 })).toEqual([]);
});

test('dust-sweeper: many UTXOs of a small average in one transaction', async () => {
  const sweeper = { receiving_count: 35, utxo_count: 5, sending_count: 3, received: 34.9 * KAS };
  expect(await labelsBy(sweeper)).toEqual(['dust-sweeper', 'reused']);
  expect(await labelsBy({ ...sweeper, utxo_count: 6 })).toEqual(['reused']);
  expect(await labelsBy({ ...sweeper, received: 35 * KAS })).toEqual(['reused']);
  expect(await labelsBy({ ...sweeper, sending_count: 2 })).toEqual(['reused']);
  // UTXOs at the start of an index were paid before it: more is left than was ever seen to come in.
  expect(await labelsBy({ ...sweeper, utxo_count: 1000 })).toEqual(['reused']);
});

async function buffersOf(scriptId: number): Promise<number> {
  const { rows } = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    'explain (analyze, buffers, format json) select automatic_labels($1)',
    [scriptId],
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
  return (plan['Shared Hit Blocks'] ?? Infinity) + (plan['Shared Read Blocks'] ?? Infinity);
}

describe('exchange-like', () => {
  const exchange = {
    accepted_count: 1010,
    sending_count: 500,
    coinbase_count: 10,
    receiving_count: 1010,
    received: 5000 * KAS,
    first_seen: NOW - 30 * DAY_MS,
    last_seen: NOW,
  };
  let nextTransactionId = 1;

  /**
   * Each deposit has two payers and change, each withdrawal pays two; of every three the last was
   * not accepted.
   */
  async function insertTransactions(scriptId: number, count: number): Promise<void> {
    const first = nextTransactionId;
    nextTransactionId += count;
    const { pool } = database;
    const others = `100000 + t * 2 + place`;
    await pool.query(
      `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
         payload, storage_mass, compute_mass, json_bytes, accepting_index)
       select t, sha256(t::text::bytea), '', 0, 0, 0, 0, '', 0, 0, 0, case when t % 3 <> 0
         then 1 end
       from generate_series(${first}, ${first + count - 1}) t`,
    );
    await pool.query(
      `insert into transaction_inputs (transaction_id, index, previous_transaction_id,
         previous_index, signature_script, sequence, sig_op_count, compute_budget,
         amount, script_id)
       select t, place, 0, 0, '', 0, 0, 0, 1, case when t % 2 = 0 then ${others}
         else ${scriptId} end
       from generate_series(${first}, ${first + count - 1}) t, generate_series(0, 1) place`,
    );
    await pool.query(
      `insert into transaction_outputs (transaction_id, index, amount, script_id)
       select t, place, 1, case when t % 2 = 0 then ${scriptId} else ${others} end
       from generate_series(${first}, ${first + count - 1}) t, generate_series(0, 1) place`,
    );
  }

  test('many deposits and withdrawals over a month, with a hundred counterparties', async () => {
    const scriptId = await insertSums(exchange);
    // Two others for each of the two of three that were accepted: 98.
    await insertTransactions(scriptId, 73);
    expect(await labelsOf(scriptId)).toEqual(['miner', 'reused']);
    await insertTransactions(scriptId, 2);
    expect(await labelsOf(scriptId)).toEqual(['exchange-like', 'miner', 'reused']);
  });

  test.each([
    ['deposits', { accepted_count: 1009 }],
    ['deposits that are no coinbases', { coinbase_count: 11 }],
    ['withdrawals', { accepted_count: 1009, sending_count: 499 }],
    ['time', { first_seen: NOW - 30 * DAY_MS + 1 }],
  ])('too few: %s', async (_, fewer) => {
    const scriptId = await insertSums({ ...exchange, ...fewer });
    await insertTransactions(scriptId, 150);
    expect(await labelsOf(scriptId)).toEqual(['miner', 'reused']);
  });

  /** Payments by the script itself, so that each one has one counterparty, which is the same. */
  async function insertPayments(scriptId: number, count: number, acceptingIndex: number | null): Promise<void> {
    const first = nextTransactionId;
    nextTransactionId += count;
    const { pool } = database;
    await pool.query(
      `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
         payload, storage_mass, compute_mass, json_bytes, accepting_index)
       select t, sha256(t::text::bytea), '', 0, 0, 0, 0, '', 0, 0, 0, $1::integer
         from generate_series($2::bigint, $3) t`,
      [acceptingIndex, first, first + count - 1],
    );
    await pool.query(
      `insert into transaction_outputs (transaction_id, index, amount, script_id)
       select t, 0, 1, $1::bigint from generate_series($2::bigint, $3) t`,
      [scriptId, first, first + count - 1],
    );
  }

  test('only the newest 200 accepted transactions count', async () => {
    const scriptId = await insertSums({ ...exchange, coinbase_count: 0 });
    await insertTransactions(scriptId, 300);
    expect(await labelsOf(scriptId)).toEqual(['exchange-like', 'reused']);
    await insertPayments(scriptId, 151, 1);
    expect(await labelsOf(scriptId)).toEqual(['reused']);
  });

  test('no number of payments that nobody accepted takes the label away, and few of them are read', async () => {
    const scriptId = await insertSums({ ...exchange, coinbase_count: 0 });
    await insertTransactions(scriptId, 900);
    for (const count of [200, 2000, 100_000]) {
      await insertPayments(scriptId, count, null);
      expect(await labelsOf(scriptId), String(count)).toEqual(['exchange-like', 'reused']);
    }
    await database.pool.query('analyze transactions, transaction_inputs, transaction_outputs');
    expect(await labelsOf(scriptId)).toEqual(['exchange-like', 'reused']);
    // 16,000 are looked up at most, and here half of them.
    expect(await buffersOf(scriptId)).toBeLessThan(5 * 10_000);
  });
});
