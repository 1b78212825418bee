/** Selects the transactions of blocks in the form of the endpoints under /v1/rpc, as JSON. */
import { type RawBuilder, sql } from 'kysely';
import { jsonArray, jsonObject, optional } from '../../index-state/json.ts';
import { hex, text } from '../../index-state/sql.ts';
import type { TransactionInputJson, TransactionJson, TransactionOutputJson } from '../../schemas/transaction.ts';
import {
  covenant,
  inputFields,
  joinInput,
  joinVariant,
  payload,
  scriptPublicKey,
  transactionFields,
} from './fields.ts';

const inputs = jsonArray(
  jsonObject<TransactionInputJson>({
    previousOutpoint: jsonObject<TransactionInputJson['previousOutpoint']>({
      transactionId: inputFields.previousTransactionId,
      index: inputFields.previousIndex,
    }),
    sequence: inputFields.sequence,
    sigOpCount: inputFields.sigOpCount,
    signatureScript: inputFields.signatureScript,
    computeBudget: inputFields.computeBudget,
  }),
  sql`
    from transaction_inputs input ${joinInput(sql`contained.body`)}
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
    covenant,
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
  ${joinVariant(sql`contained.body`)}
  where contained.block_id = block.id
  order by contained.index`;

/** The transactions of `block` in their order, each as the variant that the block contains. */
export const containedTransactions: RawBuilder<TransactionJson[]> = jsonArray(
  jsonObject<TransactionJson>({
    version: transactionFields.version,
    inputs,
    outputs,
    lockTime: transactionFields.lockTime,
    subnetworkId: transactionFields.subnetworkId,
    gas: transactionFields.gas,
    payload,
    mass: transactionFields.mass,
    verboseData: jsonObject<TransactionJson['verboseData']>({
      transactionId: transactionFields.transactionId,
      hash: transactionFields.hash,
      computeMass: transactionFields.computeMass,
      blockHash: hex('block.hash'),
      blockTime: text('block.timestamp'),
    }),
  }),
  ofBlock,
);
