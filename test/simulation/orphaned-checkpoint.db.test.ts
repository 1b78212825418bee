/**
 * The node does not know the checkpoint although its chain has more work: it never got our last
 * blocks. The indexer reverts to the highest of its blocks that the node knows (invariant 11), and
 * equals a fresh index in the end.
 */
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { afterEach, expect, test } from 'vitest';
import { NodeBehindProxy, type RunningIndexer, SimulatedDag, startIndexing } from '../support/simulated-dag.ts';
import { atRest, expectRight, createHarness, type Harness } from '../support/harness.ts';

/** A catch-up has many of these small batches. */
const BATCH = { batchTransactions: '40' };

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

/** Creates another node with all blocks of the first, and the harness to check an index of it. */
async function peerOf(harness: Harness): Promise<{ peer: SimulatedDag; there: Harness }> {
  const peer = await SimulatedDag.start('peer');
  const node = new NodeClient({ url: peer.server.url });
  running.push(
    () => peer.stop(),
    () => node.close(),
  );
  peer.receiveBlocksOf(harness.simulatedDag);
  return { peer, there: { ...harness, simulatedDag: peer, node } };
}

function follow(harness: Harness, variables: Record<string, string> = {}): RunningIndexer {
  const indexer = startIndexing(harness.simulatedDag, harness.database.url, { ...BATCH, ...variables });
  running.push(() => indexer.stop().catch(() => undefined));
  return indexer;
}

async function indexToTheTip(harness: Harness): Promise<void> {
  const indexer = follow(harness);
  await atRest(harness.database, harness.node, indexer);
  await indexer.stop();
}

test.each([
  ['one block', 1, 3],
  ['some blocks', 7, 12],
  ['so many that a catch-up follows', 60, 120],
])('the indexer reverts %s that never reached the node, and follows its chain', async (name, lost, others) => {
  const harness = await createHarness(`orphaned: ${name}`);
  harness.simulatedDag.mine(80);
  const { peer, there } = await peerOf(harness);
  harness.simulatedDag.mine(lost);
  await indexToTheTip(harness);
  peer.mineBeyond(harness.simulatedDag, others);
  await indexToTheTip(there);
  await expectRight(there);
});

test('the indexer waits for a wiped node until it has as much work as the index, and reverts nothing before', async () => {
  const harness = await createHarness('orphaned: wiped');
  harness.simulatedDag.mine(40);
  const { peer, there } = await peerOf(harness);
  harness.simulatedDag.mine(20);
  await indexToTheTip(harness);
  const { rows: before } = await harness.database.pool.query('select * from checkpoint');

  const indexer = follow(there);
  const failures = async (): Promise<number> =>
    (await indexer.metrics.failures.get()).values.find(({ labels }) => labels['kind'] === 'node-behind')?.value ?? 0;
  await expect.poll(failures, { timeout: 60_000 }).toBeGreaterThan(1);
  const { rows: meanwhile } = await harness.database.pool.query('select * from checkpoint');
  expect(meanwhile).toEqual(before);

  peer.mineBeyond(harness.simulatedDag, 40);
  await atRest(harness.database, there.node, indexer);
  await indexer.stop();
  await expectRight(there);
});

test('the indexer reverts blocks that the node lost within the first catch-up', async () => {
  const harness = await createHarness('orphaned: first catch-up');
  harness.simulatedDag.mine(40);
  const { peer, there } = await peerOf(harness);
  harness.simulatedDag.mine(200);
  // The node keeps failing, so that the indexer does not reach the tip.
  let pages = 0;
  const broken = await NodeBehindProxy.start(harness.simulatedDag.node, (op) => {
    if (op === 'getBlocks') pages += 1;
    return op === 'getBlocks' && pages > 4 ? { kind: 'drop' } : undefined;
  });
  running.push(() => broken.stop());
  const cut = follow(harness, { NODE_URL: broken.url });
  await expect
    .poll(async () => (await harness.database.pool.query('select 1 from chain_blocks limit 1 offset 80')).rowCount, {
      timeout: 60_000,
    })
    .toBe(1);
  await cut.stop();
  const { rows } = await harness.database.pool.query<{ first_catch_up: boolean }>(
    'select first_catch_up from checkpoint',
  );
  expect(rows).toEqual([{ first_catch_up: true }]);

  peer.mineBeyond(harness.simulatedDag, 220);
  await indexToTheTip(there);
  await expectRight(there);
});

test('a running indexer follows a node that loses its last blocks to others, twice', async () => {
  const harness = await createHarness('orphaned: running');
  const { simulatedDag } = harness;
  simulatedDag.mine(40);
  const { peer, there } = await peerOf(harness);
  const [first, second] = [await NodeBehindProxy.start(simulatedDag.node), await NodeBehindProxy.start(peer.node)];
  running.push(
    () => first.stop(),
    () => second.stop(),
  );
  const indexer = follow(harness, { NODE_URL: `${first.url},${second.url}` });
  const sides = [
    { simulatedDag, harness, node: first },
    { simulatedDag: peer, harness: there, node: second },
  ] as const;
  for (const [here, away] of [sides, sides.toReversed(), sides] as const) {
    if (here === undefined || away === undefined) throw new Error('there are two sides');
    away.node.goAway();
    // The last blocks of the other side never arrive.
    here.simulatedDag.mineBeyond(away.simulatedDag, 10);
    await atRest(harness.database, here.harness.node, indexer);
    for (let step = 0; step < 3; step += 1) {
      here.simulatedDag.mine(2);
      await sleep(10);
    }
    await atRest(harness.database, here.harness.node, indexer);
    away.node.comeBack();
  }
  await indexer.stop();
  await expectRight(harness);
});
