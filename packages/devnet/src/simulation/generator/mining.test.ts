import { toHex } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { growTo, smallWorld } from '../testing/small-world.ts';

test('so many payments as are asked for stay in the mempool, the same ones, while others are mined', () => {
  const world = smallWorld('waiting', 100);
  world.simulation.leaveWaiting(2);
  const waiting = (): string[] =>
    world.node.mempool
      .entries({ includeOrphanPool: false, filterTransactionPool: false })
      .map(({ transaction }) => toHex(transaction.transactionId));
  growTo(110, world);
  const before = new Set(waiting());
  growTo(160, world);
  const after = waiting();
  expect(after.filter((id) => before.has(id)).length).toBeGreaterThanOrEqual(1);
  expect(before.size + after.length).toBeGreaterThanOrEqual(4);
  expect(after.length).toBeLessThan(20);
});
