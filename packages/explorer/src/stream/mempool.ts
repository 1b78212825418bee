/** The mempool as the stream describes it: a snapshot, then changes. */
import type { MempoolChange, PendingTransaction } from './messages.ts';

/** By id, in the order of arrival. */
export type Mempool = ReadonlyMap<string, PendingTransaction>;

/** Returns undefined while the node does not respond, and until the first snapshot. */
export function applyMempoolChange(mempool: Mempool | undefined, change: MempoolChange): Mempool | undefined {
  if ('available' in change) return undefined;
  if (mempool === undefined && !change.isSnapshot) return undefined;
  const next = new Map(change.isSnapshot ? [] : mempool);
  for (const id of change.removed) next.delete(id);
  for (const transaction of change.added) next.set(transaction.transactionId, transaction);
  return next;
}
