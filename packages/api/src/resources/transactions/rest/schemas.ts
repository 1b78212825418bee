/**
 * Transactions in the form of listings and look-ups: with spent UTXOs, containing blocks and
 * acceptance.
 */
import {
  address,
  computeBudget,
  count,
  covenant,
  decimal,
  hash,
  hexBytes,
  payload,
  scriptPublicKeyType,
  sompi,
  timestamp,
} from '@kasgres/reads';
import { z } from 'zod';
import { queryFlag } from '../../../pages/page-query.ts';
import { eventKind } from '../../covenants/schemas.ts';
import { revealedProgram } from '../../programs/schemas.ts';

const script = {
  scriptPublicKey: hexBytes.meta({ description: 'Script in hex, without its version' }),
  scriptPublicKeyAddress: address.nullable().meta({ description: 'Null for a non-standard script' }),
  scriptPublicKeyType,
};

const scriptOfUtxo = {
  scriptPublicKey: script.scriptPublicKey.nullable(),
  scriptPublicKeyAddress: script.scriptPublicKeyAddress,
  scriptPublicKeyType: scriptPublicKeyType.nullable(),
};

const restInput = z.object({
  transactionId: hash.meta({ description: 'Id of this transaction' }),
  index: count.meta({ description: 'Index of the input' }),
  signatureScript: hexBytes,
  sequence: decimal,
  sigOpCount: count,
  computeBudget: computeBudget.optional(),
  program: revealedProgram.nullable().optional().meta({
    description:
      'Only with `include=programs`: the program that it reveals, or the bare script that it spends; null for other scripts',
  }),
  previousOutput: z.object({ transactionId: hash, index: count, amount: sompi.nullable(), ...scriptOfUtxo }).meta({
    description:
      'The UTXO that is spent. Amount and script are null if the UTXO does not exist on the chain, which is possible only in transactions that are not accepted; or if it is unknown, in transactions that were accepted before the first indexed block or in a gap',
  }),
});

const restOutput = z.object({
  transactionId: hash.meta({ description: 'Id of this transaction' }),
  index: count.meta({ description: 'Index of the output' }),
  amount: sompi,
  ...script,
  covenant: covenant.optional(),
  covenantEvent: eventKind.nullable().optional().meta({
    description:
      'Only with `include=programs`: the event of its covenant; null without a covenant, and if the transaction is not accepted',
  }),
  spentBy: hash.nullable().meta({
    description:
      'Id of the accepted transaction that spends it, else of one that claims to and is not accepted; null if there is none, or if it is in a gap',
  }),
  isSpent: z.boolean().meta({ description: 'Whether `spentBy` is accepted. Otherwise the output is not spent' }),
});

export const restTransaction = z
  .object({
    transactionId: hash,
    version: count,
    blockTime: timestamp.meta({
      description:
        'Earliest time of the blocks that contain it; once accepted, of those that the accepting block merges',
    }),
    subnetworkId: hexBytes,
    hash: hash.meta({ description: 'Hash over all fields including signature scripts, of the accepted variant' }),
    mass: decimal.meta({ description: 'Storage mass' }),
    computeMass: decimal,
    fee: sompi.nullable().meta({
      description:
        'Inputs less outputs in sompi. Null if the transaction is not accepted and spends a UTXO that does not exist or is unknown, or pays more than it spends',
    }),
    lockTime: decimal,
    gas: decimal,
    payload: payload.optional().meta({ description: 'Only if requested' }),
    blockHashes: z.array(hash).max(16).meta({
      description:
        'Blocks that contain it, earliest first. At most 16: those from which it was accepted, then those merged first',
    }),
    blockCount: count.meta({ description: 'Number of all blocks that contain it: anybody can mine it again' }),
    isAccepted: z.boolean(),
    acceptingBlockHash: hash.nullable().meta({
      description: 'Null if not accepted, or if accepted before the first indexed block or in a gap',
    }),
    acceptingBlockBlueScore: decimal.nullable(),
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the accepting block; if that is unknown, a lower bound: less that of the latest bootstrap block; 0 if not accepted',
    }),
    inputs: z.array(restInput),
    outputs: z.array(restOutput),
    protocols: z
      .array(
        z.object({
          protocol: z.string(),
          source: z
            .union([z.literal('payload'), z.object({ input: count })])
            .meta({ description: 'The payload, or the input whose program has it' }),
          operation: z.string().nullable().meta({
            description: 'Null without one; `undecodable` if the bytes are no operation of the protocol',
          }),
          tick: z.string().nullable(),
          body: z.unknown().meta({ description: 'The content as JSON or text; null for other bytes' }),
        }),
      )
      .optional()
      .meta({
        description:
          'Only with `include=programs`: operations of protocols that it states. Only the indexer of a protocol knows their effect',
      }),
    decodedPayload: z.object({ text: z.string(), json: z.unknown() }).nullable().optional().meta({
      description:
        'Only with `include=programs`: the payload as text, and as JSON if it is; null if it is empty, longer than 64 KiB, no UTF-8, or that of a coinbase',
    }),
  })
  .meta({ id: 'RestTransaction' });

export const includePayload = queryFlag.meta({ description: 'Include payloads' });

/** The query parameters of listings. */
export const transactionFlags = {
  accepted_only: queryFlag.meta({ description: 'Only accepted transactions' }),
  include_payload: includePayload,
};

export type RestTransactionJson = z.infer<typeof restTransaction>;
export type RestInputJson = z.infer<typeof restInput>;
export type RestOutputJson = z.infer<typeof restOutput>;
