import { inTransaction } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import type { ClientBase } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { StateChanges } from '../state-changes.ts';
import { contestedOutputs, findContested } from './contested-outputs.ts';

/** Transaction 1 has these outputs, and each of as many transactions spends all of them. */
const OUTPUTS = 500;
const SPENDERS = 40;
const SPENT = 1;
const FIRST_SPENDER = 100;
/** Spends two of the outputs, and is accepted. */
const ACCEPTED = 9_000;

async function openContested(): Promise<ClientBase> {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const client = await database.pool.connect();
  onTestFinished(() => client.release());
  await client.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     select id, sha256(id::text::bytea), sha256(id::text::bytea), 0, 0, 0, 0, '', 0, 0, 0
       from generate_series(1::bigint, ${ACCEPTED}) id`,
  );
  await client.query(
    `insert into transaction_inputs (transaction_id, index, previous_transaction_id,
       previous_transaction_hash, previous_index, signature_script, sequence, sig_op_count,
       compute_budget, amount, script_id)
     select spender, n, ${SPENT}, ''::bytea, n, ''::bytea, 0, 0, 0, 1, 1
       from generate_series(${FIRST_SPENDER}, ${FIRST_SPENDER + SPENDERS - 1}) spender,
         generate_series(0, ${OUTPUTS - 1}) n
     union all
     select ${ACCEPTED}, n, ${SPENT}, ''::bytea, n + 7, ''::bytea, 0, 0, 0, 1, 1
       from generate_series(0, 1) n`,
  );
  await client.query('vacuum analyze transactions, transaction_inputs');
  return client;
}

/** Returns how many rows of inputs the transaction has read. */
async function countRead(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ read: number }>(
    `select sum(idx_tup_fetch + seq_tup_read)::integer as read from pg_stat_xact_user_tables
      where relname like 'transaction_inputs%'`,
  );
  return rows[0]?.read ?? Number.NaN;
}

/** Returns how many rows of inputs the work reads. */
async function inputsReadBy(client: ClientBase, work: () => Promise<void>): Promise<number> {
  return await inTransaction(client, async () => {
    const before = await countRead(client);
    await work();
    return (await countRead(client)) - before;
  });
}

test('a contested output costs the same however many transactions claim to spend it', async () => {
  const client = await openContested();
  const claims = { spending: [FIRST_SPENDER + SPENDERS - 1], outputs: [] };
  await findContested(client, claims);
  const { rows } = await client.query(
    'select count(*)::integer as count, count(spender_id)::integer as accepted from contested_outputs',
  );
  expect(rows).toEqual([{ count: OUTPUTS, accepted: 0 }]);
  await client.query('vacuum analyze contested_outputs');

  // The input itself, and five that spend the same.
  expect(await inputsReadBy(client, () => findContested(client, claims))).toBeLessThanOrEqual(6 * OUTPUTS);

  await client.query(
    `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
       chain_time, highest_transaction, lowest_transaction, hash, blue_score)
         values (5, 1, 0, 0, array[${ACCEPTED}::bigint], 0, 0, 0, '', 0)`,
  );
  const changes = new StateChanges({ checkpoint: 4, fork: 4, forkTime: 0n, to: 5, firstTransaction: ACCEPTED + 1 });
  const accept = async (): Promise<void> => await contestedOutputs.apply?.(client, changes);
  expect(await inputsReadBy(client, accept)).toBeLessThanOrEqual(10);
  const spent = await client.query(
    'select index::integer, spender_id::integer from contested_outputs where spender_id is not null order by index',
  );
  expect(spent.rows).toEqual([7, 8].map((index) => ({ index, spender_id: ACCEPTED })));
});

test('after a gap, the latest of two accepted spenders is kept', async () => {
  const client = await openContested();
  // Either order of keys.
  const [low, between, high] = [FIRST_SPENDER, FIRST_SPENDER + 1, FIRST_SPENDER + 2];
  for (const [earlier, later] of [
    [low, between],
    [high, between],
  ]) {
    await inTransaction(client, async () => {
      await client.query('truncate contested_outputs');
      await client.query('update transactions set accepting_index = null where accepting_index is not null');
      await client.query(
        'update transactions set accepting_index = case id when $1 then 3 else 5 end where id in ($1, $2)',
        [earlier, later],
      );
    });
    await findContested(client, { spending: [FIRST_SPENDER + SPENDERS - 1], outputs: [] });
    const { rows } = await client.query('select distinct spender_id::integer as spender from contested_outputs');
    expect(rows).toEqual([{ spender: later }]);
  }
});
