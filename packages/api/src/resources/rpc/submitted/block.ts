/** A block as clients hand it in: a template that was mined, or the specification's Block. It becomes the model's. */
import type { Header } from '@kasgres/kaspa';
import { z } from 'zod';
import { list } from '../../../schemas/list.ts';
import { hashInput } from '../../../schemas/values.ts';
import { MAX_BLOCK_TRANSACTIONS, MAX_PARENT_LEVELS, MAX_PARENTS_PER_LEVEL } from './limits.ts';
import { submittedTransaction } from './transaction.ts';
import { blueWorkInput, ignored, timeInput, uint16Input, uint32Input, uint64InAnyForm } from './values.ts';

const header = z
  .strictObject({
    hash: hashInput.optional().meta({ description: 'Ignored: it follows from the rest' }),
    version: uint16Input,
    parentsByLevel: list(list(hashInput, MAX_PARENTS_PER_LEVEL), MAX_PARENT_LEVELS),
    hashMerkleRoot: hashInput,
    acceptedIdMerkleRoot: hashInput,
    utxoCommitment: hashInput,
    timestamp: timeInput,
    bits: uint32Input,
    nonce: uint64InAnyForm,
    daaScore: uint64InAnyForm,
    blueWork: blueWorkInput,
    blueScore: uint64InAnyForm,
    pruningPoint: hashInput,
  })
  .transform((submitted): Header => {
    const { hash: _hash, ...header } = submitted;
    return header;
  });

export const submittedBlock = z.strictObject({
  header,
  transactions: list(submittedTransaction, MAX_BLOCK_TRANSACTIONS),
  verboseData: ignored,
});
