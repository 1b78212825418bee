/** GET /v1/mempool: size, fees and newest transactions of the mempool. */
import { count, decimal, type EventLoopTurns, pendingTransaction, Slices, sompi, timestamp } from '@kasgres/reads';
import { z } from 'zod';
import { feerateOf, toPendingTransaction } from '../../node/pending-transaction.ts';
import type { MempoolSample, PendingTransaction } from '../../node/mempool-samples.ts';
import { route } from '../../openapi/route.ts';
import { lookUp } from '../shared.ts';

const NEWEST = 20;

const feeBucket = z.object({
  from: z.number().meta({ description: 'Lowest fee rate, in sompi per gram' }),
  to: z.number().nullable().meta({ description: 'Fee rates are lower than this; null without a limit' }),
  transactions: count,
  mass: decimal,
  fees: sompi,
});

const mempool = z
  .object({
    timestamp: timestamp.meta({
      description:
        'When the mempool was read: a second ago at most, and up to a minute for one of hundreds of megabytes',
    }),
    size: count.meta({ description: 'Transactions without orphans' }),
    mass: decimal,
    fees: z
      .array(feeBucket)
      .meta({ description: 'By fee rate, lowest first, from the lowest to the highest that occur' }),
    newest: z.array(pendingTransaction).meta({ description: `Newest first, at most ${NEWEST}` }),
  })
  .meta({ id: 'Mempool' });

type MempoolJson = z.infer<typeof mempool>;

/** 0, 1, 2, 5, 10, 20, 50 and so on, up to a million. */
const LIMITS = [
  0,
  ...Array.from({ length: 6 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat(),
  1_000_000,
];

const isUsed = ({ transactions: number }: { transactions: number }) => number > 0;

async function summarize({ timestamp, transactions }: MempoolSample, slices: Slices): Promise<MempoolJson> {
  const buckets = LIMITS.map((from, i) => ({ from, to: LIMITS[i + 1] ?? null, transactions: 0, mass: 0n, fees: 0n }));
  let mass = 0n;
  const newest: PendingTransaction[] = [];
  await slices.forEach(transactions.values(), (transaction) => {
    const feerate = feerateOf(transaction);
    const bucket = buckets.findLast(({ from }) => from <= feerate);
    if (bucket !== undefined) {
      bucket.transactions += 1;
      bucket.mass += transaction.mass;
      bucket.fees += transaction.fee;
    }
    mass += transaction.mass;
    keepNewest(newest, transaction);
  });
  const used = buckets.slice(Math.max(buckets.findIndex(isUsed), 0), buckets.findLastIndex(isUsed) + 1);
  return {
    timestamp,
    size: transactions.size,
    mass: String(mass),
    fees: used.map((bucket) => ({ ...bucket, mass: String(bucket.mass), fees: String(bucket.fees) })),
    newest: newest.map(toPendingTransaction),
  };
}

/** Inserts a transaction behind those that were seen at the same time or later. */
function keepNewest(newest: PendingTransaction[], transaction: PendingTransaction): void {
  const oldest = newest[NEWEST - 1];
  if (oldest !== undefined && oldest.seenAt >= transaction.seenAt) return;
  const index = newest.findIndex(({ seenAt }) => seenAt < transaction.seenAt);
  newest.splice(index === -1 ? newest.length : index, 0, transaction);
  if (newest.length > NEWEST) newest.pop();
}

/** All requests share the summary of a sample. */
const summaries = new WeakMap<MempoolSample, Promise<MempoolJson>>();

function summaryOf(sample: MempoolSample, turns: EventLoopTurns): Promise<MempoolJson> {
  const known = summaries.get(sample);
  if (known !== undefined) return known;
  const summary = summarize(sample, new Slices(turns, 'mempool'));
  summaries.set(sample, summary);
  return summary;
}

export const getMempool = route(
  {
    ...lookUp('Network', '/v1/mempool', 'getMempool'),
    summary: 'Size, fees by fee rate, and newest transactions of the mempool',
    response: mempool,
  },
  async ({ services: { mempool: samples, turns } }) => summaryOf(await samples.get(), turns),
);
