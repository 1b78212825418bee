/** Mempool entries, and what is asked of the two pools (api-spec.md §4.3, §4.4). */
import { z } from 'zod';
import { transaction } from '../../schemas/transaction.ts';
import { flag, sompi } from '../../schemas/values.ts';

export const mempoolEntry = z
  .object({
    fee: sompi,
    transaction,
    isOrphan: z.boolean().meta({ description: 'Whether a UTXO that it spends is not known yet' }),
  })
  .meta({ id: 'MempoolEntry' });

export type MempoolEntryJson = z.infer<typeof mempoolEntry>;

/** Which of the node's two pools are looked into. */
export const poolFlags = {
  includeOrphanPool: flag.meta({ description: 'Look into the pool of orphans' }),
  filterTransactionPool: flag.meta({ description: 'Leave the ordinary pool out' }),
};

/** The flags leave a pool to look into: the node refuses those that leave none. */
export const leavesPool = (flags: { includeOrphanPool: boolean; filterTransactionPool: boolean }): boolean =>
  flags.includeOrphanPool || !flags.filterTransactionPool;

export const NO_POOL = {
  path: ['filterTransactionPool'],
  message: 'leaves no pool to look into without includeOrphanPool',
};
