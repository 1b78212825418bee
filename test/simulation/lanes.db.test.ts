/** Each transaction may name another subnetwork (a lane), so an index keeps only some of them in memory and looks up the others. */
import { expect, test } from 'vitest';
import { buildTransaction } from '../../packages/devnet/src/economy/build-transaction.ts';
import { blockOn, FEE, scriptOf } from '../../packages/devnet/src/simulation/testing/hand-made.ts';
import { withDerived } from '../../packages/devnet/src/economy/build-transaction.ts';
import { atRest, expectRight, createHarness } from '../support/harness.ts';
import { PARAMS, startIndexing, type SimulatedDag } from '../support/simulated-dag.ts';

const LANES = 40;
/** Memory for two subnetworks and two variants. */
const SMALL_MEMORY = { memoryTransactions: '64', batchTransactions: '20' };

test('an index with room for two subnetworks in memory indexes forty, each under one key, also after restarts', async () => {
  const harness = await createHarness('lanes');
  const { simulatedDag, database, node } = harness;
  const miner = scriptOf(2);
  for (let made = 0; made < PARAMS.coinbaseMaturity + LANES; made += 1) {
    simulatedDag.node.receive(blockOn(simulatedDag.node, { miner, nonce: made }));
  }
  for (let round = 0; round < 3; round += 1) {
    const indexer = startIndexing(simulatedDag, database.url, SMALL_MEMORY);
    if (round > 0) await atRest(database, node, indexer);
    for (let lane = 0; lane < LANES; lane += 1) payOnLane(simulatedDag, lane);
    await atRest(database, node, indexer);
    await indexer.stop();
  }
  const { rows } = await database.pool.query<{ payments: number; lanes: number }>(
    `select count(*)::integer as payments, count(distinct s.subnetwork_id)::integer as lanes
       from transactions t join subnetworks s on s.id = t.subnetwork_id
      where get_byte(s.subnetwork_id, 0) > 1`,
  );
  expect(rows).toEqual([{ payments: 3 * LANES, lanes: LANES }]);
  await expectRight(harness);
});

/** Mines a block with a payment on the lane. */
function payOnLane({ node }: SimulatedDag, lane: number): void {
  const { utxos: utxoSet, virtual } = node.consensus;
  const utxo = utxoSet.utxosOf(scriptOf(2)).find(({ blockDaaScore }) => {
    return Number(blockDaaScore) + PARAMS.coinbaseMaturity <= virtual.daaScore;
  });
  if (utxo === undefined) throw new Error('no coinbase is mature');
  const outputs = [{ amount: Number(utxo.amount) - FEE, scriptPublicKey: scriptOf(3) }];
  const utxos = [{ entry: utxo, redeemScript: undefined }];
  const native = buildTransaction({ version: 1, utxos, outputs, payload: new Uint8Array(0) });
  const subnetworkId = new Uint8Array(20).fill(lane + 2, 0, 4);
  node.receive(blockOn(node, { payments: [withDerived({ ...native, subnetworkId })], miner: scriptOf(2) }));
}
