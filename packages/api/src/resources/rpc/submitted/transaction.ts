/**
 * Schemas of submitted transactions and blocks: the forms of blocks, mempool entries and block
 * templates.
 */
import { hashInput, list } from '@kasgres/reads';
import { z } from 'zod';
import {
  blueWorkInput,
  hexInput,
  ignored,
  MAX_BLOCK_TRANSACTIONS,
  MAX_PARENT_LEVELS,
  MAX_PARENTS_PER_LEVEL,
  MAX_TRANSACTION_INPUTS,
  MAX_TRANSACTION_OUTPUTS,
  prefixedScriptInput,
  subnetworkIdInput,
  timeInput,
  uint16Input,
  uint32Input,
  uint64InAnyForm,
  uint8Input,
} from './values.ts';

const input = z.strictObject({
  previousOutpoint: z.strictObject({ transactionId: hashInput, index: uint32Input }),
  sequence: uint64InAnyForm,
  sigOpCount: uint8Input,
  signatureScript: hexInput,
  computeBudget: uint16Input.default(0).meta({ description: 'Transaction version 1 and later' }),
  verboseData: ignored,
});

const output = z
  .strictObject({
    value: uint64InAnyForm,
    scriptPublicKey: z
      .union([prefixedScriptInput, z.strictObject({ version: uint16Input, script: hexInput })])
      .meta({ description: 'Version as 4 hex digits followed by the script in hex, or an object with both' }),
    covenant: z.strictObject({ authorizingInput: uint16Input, covenantId: hashInput }).optional(),
    verboseData: ignored,
  })
  .transform(({ value, scriptPublicKey, covenant }) => ({ amount: value, scriptPublicKey, covenant }));

export const submittedTransaction = z
  .strictObject({
    version: uint16Input,
    inputs: list(input, MAX_TRANSACTION_INPUTS),
    outputs: list(output, MAX_TRANSACTION_OUTPUTS),
    lockTime: uint64InAnyForm,
    subnetworkId: subnetworkIdInput,
    gas: uint64InAnyForm,
    payload: hexInput,
    mass: uint64InAnyForm.optional().meta({ description: 'Storage mass; computed if absent' }),
    verboseData: ignored,
  })
  .transform(({ mass, ...transaction }) => ({ ...transaction, storageMass: mass }));

/** A transaction of packages/kaspa, whose storage mass is absent in a block template. */
export type SubmittedTransaction = z.output<typeof submittedTransaction>;

const header = z.strictObject({
  hash: hashInput.optional().meta({ description: 'Ignored, since it follows from the other fields' }),
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
});

export const submittedBlock = z.strictObject({
  header,
  transactions: list(submittedTransaction, MAX_BLOCK_TRANSACTIONS),
  verboseData: ignored,
});
