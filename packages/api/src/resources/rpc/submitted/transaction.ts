/**
 * A transaction as clients hand it in: the specification's Transaction as blocks and mempool entries show it, or as a block template
 * does (api-spec.md §2). It becomes the model's, but for a storage mass that was left out.
 */
import type { Transaction, TransactionInput, TransactionOutput } from '@kasgres/kaspa';
import { z } from 'zod';
import { list } from '../../../schemas/list.ts';
import { hashInput } from '../../../schemas/values.ts';
import { MAX_TRANSACTION_INPUTS, MAX_TRANSACTION_OUTPUTS } from './limits.ts';
import {
  hexInput,
  ignored,
  prefixedScriptInput,
  subnetworkIdInput,
  uint16Input,
  uint32Input,
  uint64InAnyForm,
  uint8Input,
} from './values.ts';

export interface SubmittedTransaction extends Omit<Transaction, 'storageMass'> {
  /** Undefined where it was left out, as in a block template. */
  storageMass: bigint | undefined;
}

const input = z
  .strictObject({
    previousOutpoint: z.strictObject({ transactionId: hashInput, index: uint32Input }),
    sequence: uint64InAnyForm,
    sigOpCount: uint8Input,
    signatureScript: hexInput,
    computeBudget: uint16Input.default(0).meta({ description: 'Transaction version 1 and later' }),
    verboseData: ignored,
  })
  .transform((submitted): TransactionInput => {
    const { verboseData: _verboseData, ...input } = submitted;
    return input;
  });

const output = z
  .strictObject({
    value: uint64InAnyForm,
    scriptPublicKey: z
      .union([prefixedScriptInput, z.strictObject({ version: uint16Input, script: hexInput })])
      .meta({ description: 'Version as 4 hex digits and the script in one text, or both in an object' }),
    covenant: z.strictObject({ authorizingInput: uint16Input, covenantId: hashInput }).optional(),
    verboseData: ignored,
  })
  .transform(({ value, scriptPublicKey, covenant }): TransactionOutput => {
    return { amount: value, scriptPublicKey, covenant };
  });

export const submittedTransaction = z
  .strictObject({
    version: uint16Input,
    inputs: list(input, MAX_TRANSACTION_INPUTS),
    outputs: list(output, MAX_TRANSACTION_OUTPUTS),
    lockTime: uint64InAnyForm,
    subnetworkId: subnetworkIdInput,
    gas: uint64InAnyForm,
    payload: hexInput,
    mass: uint64InAnyForm.optional().meta({ description: 'Storage mass; left out it is computed' }),
    verboseData: ignored,
  })
  .transform((submitted): SubmittedTransaction => {
    const { mass, verboseData: _verboseData, ...transaction } = submitted;
    return { ...transaction, storageMass: mass };
  });
