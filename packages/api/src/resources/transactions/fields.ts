/** Fields of transactions in SQL and in messages of the node, which several forms share. */
import { type RawBuilder, sql } from 'kysely';
import { optional, jsonObject } from '../../index-state/json.ts';
import { hex, text } from '../../index-state/sql.ts';
import type { TransactionOutputJson } from '../../schemas/transaction.ts';

/** Inputs of transaction version 1 and later have a compute budget. */
export const hasComputeBudgets = (transaction: { version: number }): boolean => transaction.version >= 1;

/** Returns the form of the node: the version as 4 hex digits, then the script. */
export const toScriptPublicKey = (version: number, script: string): string =>
  version.toString(16).padStart(4, '0') + script;

export const toPayload = (hexDigits: string): string => (hexDigits === '' ? '' : `0x${hexDigits}`);

/** Does in SQL what `toScriptPublicKey` does. */
export const scriptPublicKey = (version: string, script: string): RawBuilder<string> =>
  sql`lpad(to_hex(${sql.ref(version)}), 4, '0') || encode(${sql.ref(script)}, 'hex')`;

export const payload: RawBuilder<string> = sql`
  case when octet_length(transactions.payload) = 0 then '' else '0x' || encode(transactions.payload, 'hex') end`;

/** Tests whether a transaction is accepted, by an indexed block or before a bootstrap block. */
export const isAccepted = (transactions = 'transactions'): RawBuilder<boolean> => sql`(
  ${sql.ref(`${transactions}.accepting_block_id`)} is not null
  or exists (select from earlier_transactions where earlier_transactions.id = ${sql.ref(`${transactions}.id`)} offset 0))`;

/** Joins `transactions` with the fields in which variants differ (docs/architecture.md); none for the first variant. */
export const joinVariant = (number: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  left join transaction_bodies variant on variant.transaction_id = transactions.id and variant.body = ${number}`;

/** Joins `input` with its fields in a variant, and with the transaction of the UTXO that it spends: `earlier` if that is pre-bootstrap. */
export const joinInput = (variant: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  ${joinPrevious}
  left join transaction_body_inputs body
    on body.transaction_id = input.transaction_id and body.body = ${variant} and body.index = input.index`;

export const joinPrevious = sql`
  left join transactions previous on previous.id = input.previous_transaction_id
  left join earlier_transactions earlier on earlier.id = input.previous_transaction_id`;

export const transactionFields = {
  version: sql<number>`transactions.version`,
  lockTime: text('transactions.lock_time'),
  gas: text('transactions.gas'),
  subnetworkId: hex('subnetworks.subnetwork_id'),
  transactionId: hex('transactions.transaction_id'),
  hash: sql<string>`encode(coalesce(variant.hash, transactions.hash), 'hex')`,
  mass: sql<string>`coalesce(variant.storage_mass, transactions.storage_mass)::text`,
  computeMass: sql<string>`coalesce(variant.compute_mass, transactions.compute_mass)::text`,
};

export const inputFields = {
  previousTransactionId: sql<string>`encode(
    coalesce(previous.transaction_id, earlier.transaction_id, input.previous_transaction_hash), 'hex')`,
  previousIndex: sql<number>`input.previous_index`,
  signatureScript: sql<string>`encode(coalesce(body.signature_script, input.signature_script), 'hex')`,
  sequence: text('input.sequence'),
  sigOpCount: sql<number>`coalesce(body.sig_op_count, input.sig_op_count)`,
  computeBudget: optional(
    sql`transactions.version >= 1`,
    sql<number>`coalesce(body.compute_budget, input.compute_budget)`,
  ),
};

export const covenant = optional(
  sql`output.covenant_id is not null`,
  jsonObject<NonNullable<TransactionOutputJson['covenant']>>({
    authorizingInput: sql`output.covenant_authorizing_input`,
    covenantId: hex('output.covenant_id'),
  }),
);
