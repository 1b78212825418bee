/** A block as the endpoints under /v1/rpc show it (api-spec.md §2). */
import { z } from 'zod';
import { transaction } from './transaction.ts';
import { count, decimal, hash, milliseconds } from './values.ts';

/** What the header of a template has too. */
export const headerFields = {
  version: count,
  parentsByLevel: z.array(z.array(hash)).meta({ description: 'Parents of each level; level 0 are the direct parents' }),
  hashMerkleRoot: hash,
  acceptedIdMerkleRoot: hash,
  utxoCommitment: hash,
  timestamp: milliseconds,
  bits: count,
  nonce: decimal,
  daaScore: decimal,
  blueWork: decimal,
  blueScore: decimal,
  pruningPoint: hash,
};

export const blockHeader = z.object({ hash, ...headerFields }).meta({ id: 'BlockHeader' });

export const block = z
  .object({
    header: blockHeader,
    transactions: z.array(transaction).optional().meta({ description: 'Only when asked for' }),
    verboseData: z.object({
      hash,
      difficulty: z.number(),
      selectedParentHash: hash,
      transactionIds: z.array(hash),
      isHeaderOnly: z.boolean(),
      blueScore: count,
      childrenHashes: z.array(hash).meta({ description: 'In no fixed order' }),
      mergeSetBluesHashes: z.array(hash).meta({ description: 'Selected parent first' }),
      mergeSetRedsHashes: z.array(hash),
      isChainBlock: z.boolean(),
    }),
  })
  .meta({ id: 'Block' });

export type BlockJson = z.infer<typeof block>;
