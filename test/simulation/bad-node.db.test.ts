/** Invariants 10 and 11: bad data of a node is never written, and permanent problems stop the indexer with an explanation. */
import { createHash } from 'node:crypto';
import type { Fault } from '@kasgres/devnet';
import { FatalError } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { atRest, expectRight, freshDatabase, SEED, createHarness } from '../support/harness.ts';
import { startIndexing, SimulatedDag } from '../support/simulated-dag.ts';

const FAULTS: Fault[] = [
  { kind: 'drop' },
  { kind: 'delay', ms: 20 },
  { kind: 'cut' },
  { kind: 'error', message: 'something is wrong' },
  { kind: 'error', message: 'consensus is currently in a transitional ibd state' },
  { kind: 'header-only' },
  { kind: 'stale' },
];
const FAULT_RATE = 0.07;
const FAULTY_OPS = new Set(['getBlocks', 'getVirtualChainFromBlock', 'getVirtualChainFromBlockV2', 'getBlock']);

test('the index stays right with responses that fail, break off, are late, stale or incomplete', async () => {
  let isFaulty = true;
  let asked = 0;
  const harness = await createHarness('bad responses', (op) => {
    asked += 1;
    const [first, second] = createHash('sha256').update(`${SEED} ${asked}`).digest();
    return isFaulty && FAULTY_OPS.has(op) && Number(first) < 256 * FAULT_RATE
      ? FAULTS[Number(second) % FAULTS.length]
      : undefined;
  });
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(250);
  const indexer = startIndexing(simulatedDag, database.url, { batchTransactions: '60' });
  await atRest(database, node, indexer);
  for (let step = 0; step < 12; step += 1) {
    simulatedDag.mine(6);
    await atRest(database, node, indexer);
  }
  isFaulty = false;
  // The indexer retries unresolved variants while the chain grows.
  for (let step = 0; step < 20; step += 1) {
    simulatedDag.mine(2);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await expectRight(harness);
});

test('a node that does not know the checkpoint stops the indexer, and no row changes', async () => {
  const { simulatedDag, database, node } = await createHarness('own chain');
  simulatedDag.mine(30);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  const { rows: before } = await database.pool.query('select * from checkpoint');

  const other = await SimulatedDag.start('another chain');
  try {
    other.mine(60);
    const lost = startIndexing(other, database.url);
    await expect(lost.ended).rejects.toThrow(/no longer knows block [0-9a-f]{64}/);
    await expect(lost.ended).rejects.toBeInstanceOf(FatalError);
  } finally {
    other.stop();
  }
  const { rows: after } = await database.pool.query('select * from checkpoint');
  expect(after).toEqual(before);
});

test('the indexer refuses the database of another network', async () => {
  const { simulatedDag } = await createHarness('another network');
  const database = await freshDatabase();
  await database.pool.query("insert into meta (network) values ('mainnet')");
  const indexer = startIndexing(simulatedDag, database.url);
  await expect(indexer.ended).rejects.toThrow(/This database holds mainnet, but the node is on simnet/);
});

test('the second of two indexers on one database stops with an explanation', async () => {
  const { simulatedDag, database, node } = await createHarness('two indexers');
  simulatedDag.mine(20);
  const first = startIndexing(simulatedDag, database.url);
  await atRest(database, node, first);
  const second = startIndexing(simulatedDag, database.url);
  await expect(second.ended).rejects.toThrow(/Another indexer is writing to this database/);
  simulatedDag.mine(20);
  await atRest(database, node, first);
  await first.stop();
});
