/** Results of a search. */
import { address, count, decimal, hash, sompi, timestamp } from '@kasgres/reads';
import { z } from 'zod';

export const blockResult = z.object({
  type: z.literal('block'),
  id: hash,
  label: z.null(),
  matched: z.enum(['hash', 'blueScore', 'daaScore']),
  blueScore: decimal,
  daaScore: decimal,
  timestamp,
  isChainBlock: z.boolean(),
  color: z.enum(['blue', 'red']).nullable(),
});

export const transactionResult = z.object({
  type: z.literal('transaction'),
  id: hash,
  label: z.null(),
  blockTime: timestamp.nullable().meta({ description: 'Null if no indexed block contains it' }),
  isAccepted: z.boolean(),
  isPending: z.boolean().meta({ description: 'Whether it is in the mempool and in no indexed block' }),
});

export const addressResult = z.object({
  type: z.literal('address'),
  id: address,
  label: z.string().nullable().meta({ description: 'Name of its tag' }),
  balance: sompi,
  transactionCount: count,
});

export const tagResult = z.object({
  type: z.literal('tag'),
  id: z.string(),
  label: z.string(),
  labels: z.array(z.string()),
  address: address.meta({ description: 'The one with the largest balance' }),
  addressCount: count.meta({ description: 'Addresses with a tag of this name' }),
});

export const covenantResult = z.object({
  type: z.literal('covenant'),
  id: hash,
  label: z.null(),
  isLive: z.boolean(),
  balance: sompi,
  eventCount: count,
});

export const programResult = z.object({
  type: z.literal('program'),
  id: hash,
  label: z.null(),
  template: hash.nullable(),
  spendCount: count,
});

export const templateResult = z.object({
  type: z.literal('template'),
  id: hash,
  label: z.string().nullable().meta({ description: 'A name that an imported file gives it' }),
  matched: z.enum(['template', 'kccTemplate', 'name']),
  spendCount: count,
});

export const tickResult = z.object({
  type: z.literal('tick'),
  id: z.string().meta({ description: 'In the case of its inscriptions' }),
  label: z.string(),
  protocol: z.string(),
});

export const laneResult = z.object({
  type: z.literal('lane'),
  id: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .meta({ description: 'The namespace' }),
  label: z.null(),
  transactionCount: count,
});

export const searchResult = z.discriminatedUnion('type', [
  blockResult,
  transactionResult,
  addressResult,
  tagResult,
  covenantResult,
  programResult,
  templateResult,
  tickResult,
  laneResult,
]);

export type SearchResult = z.infer<typeof searchResult>;
