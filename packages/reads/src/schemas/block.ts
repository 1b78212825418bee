/** Blocks in the form of the endpoints under /v1/rpc. */
import { z } from 'zod';
import { transaction } from './transaction.ts';
import { count, decimal, hash, milliseconds } from './values.ts';

/** Fields that a block template has, too. */
export const headerFields = {
  version: count,
  parentsByLevel: z.array(z.array(hash)).meta({ description: 'Parents at each level; level 0 has the direct parents' }),
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

const blockHeader = z.object({ hash, ...headerFields }).meta({ id: 'BlockHeader' });

export const block = z
  .object({
    header: blockHeader,
    transactions: z.array(transaction).optional().meta({ description: 'Only if requested' }),
    verboseData: z.object({
      hash,
      difficulty: z.number(),
      selectedParentHash: hash,
      transactionIds: z.array(hash),
      isHeaderOnly: z.boolean(),
      blueScore: count,
      childrenHashes: z.array(hash).meta({ description: 'In any order' }),
      mergeSetBluesHashes: z.array(hash).meta({ description: 'Selected parent first' }),
      mergeSetRedsHashes: z.array(hash),
      isChainBlock: z.boolean(),
    }),
  })
  .meta({ id: 'Block' });

export type BlockJson = z.infer<typeof block>;
