/** From a bare transaction to one with what a node derives from it. */
import { computeMass, type Transaction, transactionHash, transactionId } from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';

export function withDerived(transaction: Transaction): DagTransaction {
  return {
    ...transaction,
    transactionId: transactionId(transaction),
    hash: transactionHash(transaction),
    computeMass: computeMass(transaction),
  };
}
