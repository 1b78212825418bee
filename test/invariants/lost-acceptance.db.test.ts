/**
 * An index that lost the acceptance of one transaction, and whose derived state was rebuilt: its
 * rows are consistent, as if the indexer had never got it. Only the miners' commitment reveals the
 * loss.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { finishFirstCatchUp } from '@kasgres/indexer/testing';
import { checkInvariant4, checkInvariant7, checkInvariant8, checkUtxoCommitment } from '@kasgres/verification';
import { openHarness, type Harness } from './harness.ts';

const ROUNDS = 120;

/** Selects a payment without spent outputs. */
const LOST = `
  select max(t.id) as id from transactions t
  where t.subnetwork_id <> 1 and t.accepting_index is not null and not exists (
    select from transaction_inputs i join transactions spending on spending.id = i.transaction_id
    where i.previous_transaction_id = t.id and spending.accepting_index is not null
  )`;
const LOSE = `
  with lost as (${LOST}),
  unlisted as (
    update chain_blocks set accepted_transactions = array_remove(accepted_transactions, lost.id)
    from lost where lost.id = any (accepted_transactions)
  )
  update transactions set accepting_index = null, accepted_variant = null from lost
    where transactions.id = lost.id`;

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness('lost acceptance', ROUNDS, { commitsToUtxos: true });
});
afterAll(() => harness?.close());

test('invariant 8: only the hash of the current UTXO set reveals an acceptance that was lost before the derived state was rebuilt', async () => {
  const { client } = harness;
  expect(await checkUtxoCommitment(client, 'utxos')).toEqual([]);
  expect(await client.query(LOSE)).toMatchObject({ rowCount: 1 });
  await client.query('update checkpoint set first_catch_up = true');
  const other = await harness.pool.connect();
  await finishFirstCatchUp([client, other]).finally(() => other.release());
  for (const check of [checkInvariant4, checkInvariant7, checkInvariant8]) expect(await check(client)).toEqual([]);
  expect(await checkUtxoCommitment(client, 'utxos')).toEqual([
    expect.stringMatching(/^the current UTXO set, \d+ UTXOs, is not the one that block [0-9a-f]{64} commits to$/),
  ]);
});
