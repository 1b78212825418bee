/**
 * A hostile miner saves up blocks of inputs, and mines what they spend at last. Each batch
 * completes a portion, so that the tip waits for none of them, and what the chain accepts meanwhile
 * is complete at once.
 */
import { type Outpoint, toHex } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { leastFee } from '@kasgres/devnet';
import { blockOn, payment, scriptOf } from '@kasgres/devnet/testing';
import { atRest, createHarness, expectInvariants, expectRight, type Harness, onTestEnd } from '../support/harness.ts';
import { PARAMS, type RunningIndexer, startIndexing } from '../support/simulated-dag.ts';
import { mergeBesideChain, spending } from '../support/unaccepted.ts';

const OUTPUTS = 500;
const BLOCKS = 10;
const PAYEE = scriptOf(7);

interface Pending {
  unresolved: number;
  noted: number;
}

async function readPending({ database }: Harness, id: Uint8Array): Promise<Pending> {
  const { rows } = await database.pool.query<Pending>(
    `select (select count(*)::integer from transaction_inputs
      where amount is null and previous_transaction_hash = $1) as unresolved,
            (select count(*)::integer from late_transactions) as noted`,
    [Buffer.from(id)],
  );
  return rows[0] ?? { unresolved: -1, noted: -1 };
}

const nowhere = (index: number): Outpoint => ({ transactionId: Buffer.alloc(32, 9), index });

test('late inputs are completed in portions, across restarts and reorgs, and an accepted transaction is complete at once', {
  timeout: 400_000,
}, async () => {
  const harness = await createHarness('late inputs');
  const { simulatedDag, database, node } = harness;
  const { node: simulated } = simulatedDag;
  const miner = scriptOf(2);
  for (let made = 0; made < PARAMS.coinbaseMaturity + 10; made += 1) {
    simulated.receive(blockOn(simulated, { miner, nonce: made }));
  }
  let indexer: RunningIndexer = startIndexing(simulatedDag, database.url);
  onTestEnd(() => indexer.stop());
  await atRest(database, node, indexer);

  const outputs = Array.from({ length: OUTPUTS }, () => ({ amount: 1000n, scriptPublicKey: PAYEE }));
  const parents = [1, 2].map((n) => spending([nowhere(n)], outputs, n));
  for (let block = 0; block < BLOCKS; block += 1) {
    const spenders = parents.map(({ transactionId }) =>
      spending(
        outputs.map((_, index) => ({ transactionId, index })),
        [],
        block,
      ),
    );
    mergeBesideChain(simulated, spenders);
    await atRest(database, node, indexer);
  }
  const [utxo] = simulated.consensus.utxos.utxosOf(miner);
  const accepted = payment(utxo, PAYEE);
  const [created] = accepted.outputs;
  if (created === undefined) throw new Error('no output');
  const fee = BigInt(leastFee({ utxos: 1, outputs: 1, payload: 0 }));
  const spender = spending(
    [{ transactionId: accepted.transactionId, index: 0 }],
    [{ amount: created.amount - fee, scriptPublicKey: PAYEE }],
  );
  mergeBesideChain(simulated, [spender]);
  await atRest(database, node, indexer);
  expect(await readPending(harness, accepted.transactionId)).toEqual({ unresolved: 1, noted: 0 });

  mergeBesideChain(simulated, parents);
  await atRest(database, node, indexer);
  const [first, second] = parents;
  if (first === undefined || second === undefined) throw new Error('no parents');
  expect((await readPending(harness, second.transactionId)).unresolved).toBeGreaterThan(OUTPUTS);
  await expectInvariants(database.pool, node);

  simulated.receive(blockOn(simulated, { payments: [accepted] }));
  simulated.receive(blockOn(simulated));
  await atRest(database, node, indexer);
  await indexer.stop();
  indexer = startIndexing(simulatedDag, database.url);
  simulated.receive(blockOn(simulated, { payments: [spender] }));
  simulated.receive(blockOn(simulated));
  await atRest(database, node, indexer);
  const { rows } = await database.pool.query(
    `select t.accepting_index is not null as is_accepted, t.fee, i.amount from transactions t
      join transaction_inputs i on i.transaction_id = t.id
      where encode(t.transaction_id, 'hex') = $1`,
    [toHex(spender.transactionId)],
  );
  expect(rows).toEqual([{ is_accepted: true, fee, amount: created.amount }]);
  await expectInvariants(database.pool, node);

  simulatedDag.mine(2);
  await atRest(database, node, indexer);
  simulatedDag.reorganise();
  await atRest(database, node, indexer);
  for (let blocks = 0; blocks < 20 && (await readPending(harness, second.transactionId)).noted > 0; blocks += 1) {
    simulatedDag.mine(1);
    await atRest(database, node, indexer);
  }
  expect(await readPending(harness, second.transactionId)).toEqual({ unresolved: 0, noted: 0 });
  await expectRight(harness);
});
