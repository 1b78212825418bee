/** Transactions of blocks and of the mempool in the form of the endpoints under /v1/rpc. */
import { z } from 'zod';
import { address, count, decimal, hash, hexBytes, milliseconds, payload, sompi } from './values.ts';

export const outpoint = z.object({ transactionId: hash, index: count });

export const covenant = z
  .object({ authorizingInput: count, covenantId: hash })
  .meta({ description: 'Binds the output to a covenant; absent without one' });

export const scriptPublicKeyType = z.enum(['pubkey', 'pubkeyecdsa', 'scripthash', 'nonstandard']);

export const computeBudget = count.meta({ description: 'Transaction version 1 and later; absent before' });

const transactionInput = z.object({
  previousOutpoint: outpoint,
  sequence: decimal,
  sigOpCount: count,
  signatureScript: hexBytes,
  computeBudget: computeBudget.optional(),
});

const transactionOutput = z.object({
  value: sompi,
  scriptPublicKey: hexBytes.meta({ description: 'Version as 4 hex digits, then the script in hex' }),
  verboseData: z
    .object({ scriptPublicKeyType, scriptPublicKeyAddress: address })
    .optional()
    .meta({ description: 'Absent for a non-standard script' }),
  covenant: covenant.optional(),
});

export const transaction = z
  .object({
    version: count,
    inputs: z.array(transactionInput),
    outputs: z.array(transactionOutput),
    lockTime: decimal,
    subnetworkId: hexBytes,
    gas: decimal,
    payload,
    mass: decimal.meta({ description: 'Storage mass' }),
    verboseData: z.object({
      transactionId: hash,
      hash: hash.meta({ description: 'Hash over all fields including signature scripts' }),
      computeMass: decimal,
      blockHash: hash.meta({ description: 'The containing block; zeros in the mempool' }),
      blockTime: milliseconds.meta({ description: 'Time of that block; 0 in the mempool' }),
    }),
  })
  .meta({ id: 'Transaction' });

export type TransactionJson = z.infer<typeof transaction>;
export type TransactionInputJson = z.infer<typeof transactionInput>;
export type TransactionOutputJson = z.infer<typeof transactionOutput>;
