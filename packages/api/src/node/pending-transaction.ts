/** Pending transactions as responses and events show them. */
import type { PendingTransactionJson } from '@kasgres/reads';
import type { PendingTransaction } from './mempool-samples.ts';

export const feerateOf = ({ fee, mass }: PendingTransaction): number => (mass === 0n ? 0 : Number(fee) / Number(mass));

export const toPendingTransaction = (transaction: PendingTransaction): PendingTransactionJson => ({
  transactionId: transaction.id,
  seenAt: transaction.seenAt,
  fee: String(transaction.fee),
  mass: String(transaction.mass),
  feerate: Math.round(feerateOf(transaction) * 1000) / 1000,
  outputSum: String(transaction.outputSum),
});
