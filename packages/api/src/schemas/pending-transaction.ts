/** Transactions of the mempool. */
import { z } from 'zod';
import type { PendingTransaction } from '../node/mempool-samples.ts';
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

export const feerateOf = ({ fee, mass }: PendingTransaction): number => (mass === 0n ? 0 : Number(fee) / Number(mass));

export const toPendingTransaction = (transaction: PendingTransaction): PendingTransactionJson => ({
  transactionId: transaction.id,
  seenAt: transaction.seenAt,
  fee: String(transaction.fee),
  mass: String(transaction.mass),
  feerate: Math.round(feerateOf(transaction) * 1000) / 1000,
  outputSum: String(transaction.outputSum),
});
