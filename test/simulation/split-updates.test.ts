/**
 * Updates are split where they would be too large for one batch; together they are the node's
 * chain.
 */
import type { ChainUpdate } from '@kasgres/indexer/testing';
import { fromHex, toHex } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import type { SimulatedDag } from '../support/simulated-dag.ts';
import { openSource, startSimulatedDag } from './source-harness.ts';

/** Collects all updates from a block to the tip. */
async function updatesFrom(
  simulatedDag: SimulatedDag,
  start: SimulatedDag['node']['dag']['sink'],
  limits: { batchTransactions: number; maxBytesAhead: number },
): Promise<ChainUpdate[]> {
  const { source } = await openSource(simulatedDag, limits);
  const position = { hash: fromHex(start.hash), blueScore: start.header.blueScore };
  const updates: ChainUpdate[] = [];
  for await (const update of source.updates(position)) {
    updates.push(update);
    if (update.atTip) return updates;
  }
  throw new Error('the source ended');
}

test.each([
  ['near the tip, by transactions', 25, { batchTransactions: 8, maxBytesAhead: 1e9 }],
  ['near the tip, by bytes', 25, { batchTransactions: 1e9, maxBytesAhead: 100_000 }],
  ['far from the tip, by transactions', 150, { batchTransactions: 8, maxBytesAhead: 1e9 }],
  ['far from the tip, by bytes', 150, { batchTransactions: 1e9, maxBytesAhead: 100_000 }],
])('updates are split %s: removed chain blocks come first, unmerged blocks last', async (name, rounds, limits) => {
  const simulatedDag = await startSimulatedDag(name);
  simulatedDag.mine(40);
  const peer = await startSimulatedDag(`${name}: peer`);
  peer.receiveBlocksOf(simulatedDag);
  simulatedDag.mine(3);
  const start = simulatedDag.node.dag.sink;
  peer.mineBeyond(simulatedDag, rounds);
  peer.receiveBlocksOf(simulatedDag);
  const { dag } = peer.node;
  expect(dag.get(start.hash).chainIndex).toBeUndefined();

  const updates = await updatesFrom(peer, start, limits);
  const first = updates[0]?.removed.map(toHex) ?? [];
  expect(first[0]).toBe(start.hash);
  expect(updates.length).toBeGreaterThan(2);
  expect(updates.slice(1).every(({ removed }) => removed.length === 0)).toBe(true);
  expect(updates.slice(0, -1).every(({ tail, atTip }) => tail === undefined && !atTip)).toBe(true);
  expect(updates.at(-1)?.tail).toBeDefined();

  const fork = dag.get(first.at(-1) as string).selectedParent?.chainIndex as number;
  const added = updates.flatMap((update) => update.added.map(({ block }) => toHex(block.hash)));
  expect(added).toEqual(dag.chainBlocks.slice(fork + 1).map(({ hash }) => hash));
  // The last update may have nothing but unmerged blocks.
  for (const update of updates.slice(0, -1)) expect(update.added.length).toBeGreaterThan(0);
});
