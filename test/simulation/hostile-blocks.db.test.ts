/**
 * Blocks that only the rules in isolation allow, of every kind, mined over the gRPC of a simulated
 * node as `test/node/hostile-blocks.test.ts` does.
 */
import { createKey } from '@kasgres/database';
import { expect, test } from 'vitest';
import { HostileMiner } from '../node/load/hostile-miner.ts';
import { ApiClient } from '../support/api-client.ts';
import { atRest, createHarness, expectRight, onTestEnd, SEED } from '../support/harness.ts';
import { expectShown } from '../support/hostile-objects.ts';
import { startApi } from '../support/programs.ts';
import { PARAMS, startIndexing } from '../support/simulated-dag.ts';

const PLANS = 40;

test('an index follows a hostile miner through restarts, equals a fresh one, and shows every block and transaction', async () => {
  const harness = await createHarness('hostile miner');
  const { simulatedDag, node, database } = harness;
  simulatedDag.mine(40);
  const { coinbaseMaturity } = PARAMS;
  const miner = await HostileMiner.begin(node, { seed: SEED, coinbaseMaturity });
  await miner.mineEmpty(coinbaseMaturity + 20);
  await miner.follow();
  const size = () => ({
    transactions: miner.random.between(1, 5),
    inputs: miner.random.between(1, 30),
    blocks: miner.random.between(1, 4),
  });
  for (let part = 0; part < 2; part += 1) {
    const indexer = startIndexing(simulatedDag, database.url);
    await miner.mineMixed(PLANS / 2, size);
    await atRest(database, node, indexer);
    await indexer.stop();
    await miner.mineMixed(4, size);
  }
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRight(harness);

  expect(miner.accepted.size).toBeLessThan(miner.mined.size);
  const { key } = await createKey(database.kysely, { name: 'hostile', rateRu: 100_000 });
  const { program, url } = await startApi({ nodeUrl: simulatedDag.server.url, databaseUrl: database.url });
  onTestEnd(() => program.stop());
  await expectShown(new ApiClient(url, key), miner);
});
