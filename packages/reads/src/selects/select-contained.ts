/** Selects the transactions of blocks in the form of the endpoints under /v1/rpc, as JSON. */
import { type RawBuilder, sql } from 'kysely';
import { jsonArray, jsonObject, optional } from '../index-state/json.ts';
import { hex, text } from '../index-state/sql.ts';
import type { TransactionInputJson, TransactionJson, TransactionOutputJson } from '../schemas/transaction.ts';
import {
  inputFields,
  joinPrevious,
  outputCovenant,
  scriptPublicKey,
  transactionFields,
  transactionPayload,
} from './transaction-fields.ts';

const variant = sql<number>`contained.variant`;
const input = inputFields(variant);
const fields = transactionFields(variant);

const inputs = jsonArray(
  jsonObject<TransactionInputJson>({
    previousOutpoint: jsonObject<TransactionInputJson['previousOutpoint']>({
      transactionId: input.previousTransactionId,
      index: input.previousIndex,
    }),
    sequence: input.sequence,
    sigOpCount: input.sigOpCount,
    signatureScript: input.signatureScript,
    computeBudget: input.computeBudget,
  }),
  sql`
    from transaction_inputs input ${joinPrevious}
    where input.transaction_id = transactions.id order by input.index`,
);

const outputs = jsonArray(
  jsonObject<TransactionOutputJson>({
    value: text('output.amount'),
    scriptPublicKey: scriptPublicKey('script.version', 'script.script'),
    verboseData: optional(
      sql`script.address is not null`,
      jsonObject<NonNullable<TransactionOutputJson['verboseData']>>({
        scriptPublicKeyType: sql`script.type`,
        scriptPublicKeyAddress: sql`script.address`,
      }),
    ),
    covenant: outputCovenant,
  }),
  sql`
    from transaction_outputs output join scripts script on script.id = output.script_id
    where output.transaction_id = transactions.id order by output.index`,
);

/** Joins the transactions of `block`. */
const ofBlock = sql`
  from block_transactions contained
  join transactions on transactions.id = contained.transaction_id
  join subnetworks on subnetworks.id = transactions.subnetwork_id
  where contained.block_id = block.id
  order by contained.index`;

/** The transactions of `block` in their order, each as the variant that the block contains. */
export const containedTransactions: RawBuilder<TransactionJson[]> = jsonArray(
  jsonObject<TransactionJson>({
    version: fields.version,
    inputs,
    outputs,
    lockTime: fields.lockTime,
    subnetworkId: fields.subnetworkId,
    gas: fields.gas,
    payload: transactionPayload,
    mass: fields.mass,
    verboseData: jsonObject<TransactionJson['verboseData']>({
      transactionId: fields.transactionId,
      hash: fields.hash,
      computeMass: fields.computeMass,
      blockHash: hex('block.hash'),
      blockTime: text('block.timestamp'),
    }),
  }),
  ofBlock,
);
