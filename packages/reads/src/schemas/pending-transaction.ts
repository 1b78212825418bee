/** Transactions of the mempool. */
import { z } from 'zod';
import { decimal, hash, sompi, timestamp } from './values.ts';

export const pendingTransaction = z
  .object({
    transactionId: hash,
    seenAt: timestamp.meta({ description: 'When this process of the API first saw it' }),
    fee: sompi.nullable(),
    mass: decimal.meta({
      description:
        'The largest of compute mass, storage mass and half of the transient mass, in grams: nodes measure fee rates by it',
    }),
    feerate: z.number().nullable().meta({ description: 'Sompi per gram' }),
    outputSum: sompi,
  })
  .meta({ id: 'PendingTransaction' });

export type PendingTransactionJson = z.infer<typeof pendingTransaction>;
