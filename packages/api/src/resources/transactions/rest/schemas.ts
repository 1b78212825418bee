/** A transaction as listings and look-ups show it (API.md, "Listings"): with its UTXOs, its blocks and what became of it. */
import { z } from 'zod';
import { queryFlag } from '../../../pages/page-query.ts';
import { computeBudget, covenant, scriptPublicKeyType } from '../../../schemas/transaction.ts';
import {
  address,
  count,
  decimal,
  hash,
  hexBytes,
  payload,
  sompi,
  sompiChange,
  timestamp,
} from '../../../schemas/values.ts';

const script = {
  scriptPublicKey: hexBytes.meta({ description: 'The script in hex, without its version' }),
  scriptPublicKeyAddress: address.nullable().meta({ description: 'Null for a non-standard script' }),
  scriptPublicKeyType,
};

const scriptOfUtxo = {
  scriptPublicKey: script.scriptPublicKey.nullable(),
  scriptPublicKeyAddress: script.scriptPublicKeyAddress,
  scriptPublicKeyType: scriptPublicKeyType.nullable(),
};

const restInput = z.object({
  transactionId: hash.meta({ description: 'The transaction itself' }),
  index: count.meta({ description: 'Place among its inputs' }),
  signatureScript: hexBytes,
  sequence: decimal,
  sigOpCount: count,
  computeBudget: computeBudget.optional(),
  previousOutput: z.object({ transactionId: hash, index: count, amount: sompi.nullable(), ...scriptOfUtxo }).meta({
    description:
      'The UTXO that is spent. Amount and script are null where there is no such UTXO on the chain, only in transactions that are not accepted; and in those that were accepted before what is indexed, or in a gap, where the UTXO is not known',
  }),
});

const restOutput = z.object({
  transactionId: hash.meta({ description: 'The transaction itself' }),
  index: count.meta({ description: 'Place among its outputs' }),
  amount: sompi,
  ...script,
  covenant: covenant.optional(),
  spentBy: hash
    .nullable()
    .meta({ description: 'Id of the accepted transaction that spends it; null also where that is in a gap' }),
});

export const restTransaction = z
  .object({
    transactionId: hash,
    version: count,
    blockTime: timestamp.meta({
      description: 'Earliest time of the blocks that hold it; once accepted, of those merged by the accepting block',
    }),
    subnetworkId: hexBytes,
    hash: hash.meta({ description: 'Hash over everything, signature scripts too, of the accepted body' }),
    mass: decimal.meta({ description: 'Storage mass' }),
    computeMass: decimal,
    fee: sompiChange.nullable().meta({
      description:
        'Inputs less outputs in sompi; null where a UTXO does not exist or is not known. Negative only in transactions that can never be accepted',
    }),
    lockTime: decimal,
    gas: decimal,
    payload: payload.optional().meta({ description: 'Only when asked for' }),
    blockHashes: z.array(hash).meta({ description: 'The blocks that hold it, earliest first' }),
    isAccepted: z.boolean(),
    acceptingBlockHash: hash.nullable().meta({
      description: 'Null while not accepted, and where it was accepted before what is indexed, or in a gap',
    }),
    acceptingBlockBlueScore: decimal.nullable(),
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the accepting block; where that is not known, less that of the latest start, which is no less; 0 while not accepted',
    }),
    inputs: z.array(restInput),
    outputs: z.array(restOutput),
  })
  .meta({ id: 'RestTransaction' });

/** Query parameters of listings of transactions. */
export const acceptedOnly = queryFlag.meta({ description: 'Only accepted transactions' });
export const includePayload = queryFlag.meta({ description: 'Show payloads' });

export type RestTransactionJson = z.infer<typeof restTransaction>;
export type RestInputJson = z.infer<typeof restInput>;
export type RestOutputJson = z.infer<typeof restOutput>;
