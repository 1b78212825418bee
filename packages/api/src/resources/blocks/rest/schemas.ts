/** A block as listings and look-ups show it (API.md, "Listings"): what the chain made of it. */
import { z } from 'zod';
import { block } from '../../../schemas/block.ts';
import { count, decimal, hash, timestamp } from '../../../schemas/values.ts';

export const restBlock = z
  .object({
    hash,
    blueScore: decimal,
    daaScore: decimal,
    timestamp: timestamp.meta({ description: 'Unix time in milliseconds, as claimed by the miner' }),
    isChainBlock: z.boolean().meta({ description: 'Whether it is on the virtual selected parent chain now' }),
    color: z
      .enum(['blue', 'red'])
      .nullable()
      .meta({ description: 'In the mergeset of the merging block; null while not merged' }),
    mergingBlockHash: hash.nullable().meta({
      description:
        'The chain block in whose mergeset this block is; null while not merged, and where that block is in a gap',
    }),
    transactionCount: count,
  })
  .meta({ id: 'RestBlock' });

export type RestBlockJson = z.infer<typeof restBlock>;

/** One block with everything: as the node shows it, and what the chain made of it. */
export const blockDetails = z
  .object({
    ...block.shape,
    ...restBlock.shape,
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the block itself on the chain, of its merging block off it; 0 while not merged',
    }),
  })
  .meta({ id: 'BlockDetails' });

export type BlockDetailsJson = z.infer<typeof blockDetails>;
