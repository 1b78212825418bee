/**
 * A miner may carry the same transaction ids in every block, each time with other signatures, and
 * no block costs more for those before it.
 */
import { buildTransaction, type DagTransaction, leastFee, withDerived, withOtherSignatures } from '@kasgres/devnet';
import { expect, test } from 'vitest';
import { blockOn, payment, scriptOf, siblings } from '@kasgres/devnet/testing';
import { atRest, createHarness, expectInvariants, expectRight, type Harness } from '../support/harness.ts';
import { PARAMS, startIndexing, type SimulatedDag } from '../support/simulated-dag.ts';

const IDS = 40;
const BLOCKS = 240;
/** So few that the caches hold neither the variants of ten blocks nor the first ones. */
const SMALL_CACHE = { memoryTransactions: '400' };

test('hundreds of variants of the same ids are stored once each, before and after restarts', async () => {
  const harness = await createHarness('hundreds of variants', undefined, undefined, { hostileRate: 0 });
  const { simulatedDag, database, node } = harness;
  const payments = unspentPayments(simulatedDag);
  const blocks: DagTransaction[][] = [];
  const carry = (transactions: readonly DagTransaction[]): void => {
    for (const block of siblings(simulatedDag.node, [transactions, []])) simulatedDag.node.receive(block);
  };
  carry(payments);
  let latest: readonly DagTransaction[] = payments;
  let indexer = startIndexing(simulatedDag, database.url, SMALL_CACHE);
  for (let made = 0; made < BLOCKS; made += 1) {
    latest = latest.map((each) => withDerived(withOtherSignatures(each, { broken: false })));
    blocks.push([...latest]);
    carry(latest);
    if (made % 20 === 0) await atRest(database, node, indexer);
    if (made % 80 === 79) {
      await indexer.stop();
      indexer = startIndexing(simulatedDag, database.url, SMALL_CACHE);
    }
  }
  // Variants that are no longer in the cache, of the first blocks and of later ones.
  for (const old of [0, 1, 100, 200]) carry(blocks[old] ?? []);
  simulatedDag.node.receive(blockOn(simulatedDag.node));
  await atRest(database, node, indexer);
  await indexer.stop();
  expect(await countVariants(harness)).toEqual({
    variants: BLOCKS * IDS,
    hashes: BLOCKS * IDS,
    ids: IDS,
    last: BLOCKS,
  });
  await expectInvariants(database.pool, node);
  await expectRight(harness);
});

async function countVariants({ database }: Harness): Promise<unknown> {
  const { rows } = await database.pool.query(
    `select count(*)::integer as variants, count(distinct hash)::integer as hashes,
      count(distinct transaction_id)::integer as ids, max(variant) as last
       from transaction_variants`,
  );
  return rows[0];
}

/** Returns payments that each spend an own UTXO. */
function unspentPayments({ node }: SimulatedDag): DagTransaction[] {
  const miner = scriptOf(2);
  for (let made = 0; made < PARAMS.coinbaseMaturity + 10; made += 1)
    node.receive(blockOn(node, { miner, nonce: made }));
  const [utxo] = node.consensus.utxos.utxosOf(miner);
  if (utxo === undefined) throw new Error('no coinbase is mature');
  const fee = leastFee({ utxos: 1, outputs: IDS, payload: 0 });
  const amount = Math.floor((Number(utxo.amount) - fee) / IDS);
  const outputs = Array.from({ length: IDS }, () => ({ amount, scriptPublicKey: scriptOf(3) }));
  const utxos = [{ entry: utxo, redeemScript: undefined }];
  const split = withDerived(buildTransaction({ version: 0, utxos, outputs, payload: new Uint8Array(0) }));
  node.receive(blockOn(node, { payments: [split] }));
  node.receive(blockOn(node));
  return node.consensus.utxos.utxosOf(scriptOf(3)).map((each) => payment(each, scriptOf(4)));
}
