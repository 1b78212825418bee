/**
 * docs/labels.md says what the view script_labels does: its queries give the labels that
 * automatic_labels returns, for made-up scripts of every kind.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

const SCRIPTS = 3000;
const DAY_MS = 86_400_000;
/**
 * A script with an odd number has two hundred transactions, one with an even number two; every
 * other one of them spends.
 */
const TRANSACTIONS = `(
  select s as script_id, s * 1000 + t as transaction_id, t % 2 = 1 as is_sent
  from generate_series(1, ${SCRIPTS}) s,
    generate_series(1, case when s % 2 = 1 then 220 else 2 end) t where s % 3 = 0) made`;

const document = readFileSync(new URL('../../../../docs/labels.md', import.meta.url), 'utf8');
const rules = [...document.matchAll(/^### `([\w-]+)`\n\n```sql\n(.*?)```/gms)].map(([, label = '', query = '']) => ({
  label,
  query,
}));

let database: TestDatabase;

/**
 * Figures on both sides of every threshold, by arithmetic: each rule holds for some scripts and not
 * for others.
 */
beforeAll(async () => {
  database = await createTestDatabase();
  for (const statement of [
    `insert into scripts (id, version, script, type, address)
     select s, 0, s::text::bytea, 'pubkey', 'script ' || s from generate_series(1, ${SCRIPTS}) s`,
    `insert into balances (script_id, balance, utxo_count, transaction_count, accepted_count,
       receiving_count, sending_count, coinbase_count, received, first_seen, last_seen)
     select s, s % 2, s * 3 % 40, 0, s % 11 * 200, s % 50, s % 5 + case when s % 3 = 0 then 500
       else 0 end, s % 4, (s % 50) * (s % 7) * 30000000::bigint,
       case when s % 13 > 0 then 0 end, s % 17 * ${30 * DAY_MS}::bigint / 2
         from generate_series(1, ${SCRIPTS}) s`,
    `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
      chain_time, highest_transaction, lowest_transaction, hash, blue_score)
     values (7, 1, 0, 0, '{}', ${465 * DAY_MS}, 0, 0, '', 0)`,
    `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id,
       next_script_id, next_subnetwork_id, circulating_sompi, virtual_merge_set, first_catch_up,
       target_blue_score, updated_at)
     values (1, 7, 2, 1, 1, 1, 0, '{}', false, 0, now())`,
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
       payload, storage_mass, compute_mass, json_bytes, accepting_index)
     select transaction_id, sha256(transaction_id::text::bytea), '', 0, 0, 0, 0, '', 0, 0, 0,
       case when transaction_id % (2 + transaction_id / 1000 % 3) <> 0 then 1 end
         from ${TRANSACTIONS}`,
    `insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index,
       signature_script, sequence, sig_op_count, compute_budget, amount, script_id)
     select transaction_id, 0, 0, 0, '', 0, 0, 0, 1, case when is_sent then script_id
       else transaction_id end from ${TRANSACTIONS}`,
    `insert into transaction_outputs (transaction_id, index, amount, script_id)
     select transaction_id, place, 1, case when place = 0 then script_id else transaction_id end
     from ${TRANSACTIONS}, generate_series(0, 1) place`,
    'analyze',
  ]) {
    await database.pool.query(statement);
  }
});
afterAll(() => database.drop());

test('every documented rule gives its label, and there are no other labels', async () => {
  const scripts = await database.pool.query<{ address: string; labels: string[] }>(
    'select address, automatic_labels(id) as labels from scripts',
  );
  expect(new Set(scripts.rows.flatMap(({ labels }) => labels))).toEqual(new Set(rules.map(({ label }) => label)));
  for (const { label, query } of rules) {
    // The same of all scripts at once.
    const [, expression, from] = /^select (.*)\n {2}from (.*) where address = \$1\n$/s.exec(query) ?? [];
    const said = await database.pool.query<{ address: string }>(`select address from ${from} where ${expression}`);
    const given = scripts.rows.filter(({ labels }) => labels.includes(label)).map(({ address }) => address);
    expect(said.rows.map(({ address }) => address).toSorted(), label).toEqual(given.toSorted());
    expect(given.length, label).toBeGreaterThan(0);
    expect(given.length, label).toBeLessThan(SCRIPTS);
  }
});
