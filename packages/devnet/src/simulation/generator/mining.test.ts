import { toHex } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { growTo, smallSimulatedDag } from '../testing/small-simulated-dag.ts';

test('the requested number of payments stays in the mempool while others are mined', () => {
  const simulatedDag = smallSimulatedDag('waiting', 100);
  simulatedDag.simulation.leavePending(2);
  const waiting = (): string[] =>
    simulatedDag.node.mempool
      .entries({ includeOrphanPool: false, filterTransactionPool: false })
      .map(({ transaction }) => toHex(transaction.transactionId));
  growTo(110, simulatedDag);
  const before = new Set(waiting());
  growTo(160, simulatedDag);
  const after = waiting();
  expect(after.filter((id) => before.has(id)).length).toBeGreaterThanOrEqual(1);
  expect(before.size + after.length).toBeGreaterThanOrEqual(4);
  expect(after.length).toBeLessThan(20);
});
