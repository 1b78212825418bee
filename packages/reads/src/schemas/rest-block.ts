/** Blocks in the form of listings. */
import { z } from 'zod';
import { count, decimal, hash, timestamp } from './values.ts';

export const restBlock = z
  .object({
    hash,
    blueScore: decimal,
    daaScore: decimal,
    timestamp: timestamp.meta({ description: 'Unix time in milliseconds, set by the miner' }),
    isChainBlock: z.boolean().meta({ description: 'Whether it is on the virtual selected parent chain now' }),
    color: z
      .enum(['blue', 'red'])
      .nullable()
      .meta({ description: 'Colour in the mergeset of the merging block; null if not merged' }),
    mergingBlockHash: hash.nullable().meta({
      description: 'The chain block that merges this block; null if not merged, or if that block is in a gap',
    }),
    transactionCount: count,
  })
  .meta({ id: 'RestBlock' });
