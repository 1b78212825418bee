/** Fields of transactions in SQL and in messages of the node, which several forms share. */
import { type RawBuilder, sql } from 'kysely';
import { optional, jsonObject } from '../index-state/json.ts';
import { hex, text } from '../index-state/sql.ts';
import type { TransactionOutputJson } from '../schemas/transaction.ts';

/** Inputs of transaction version 1 and later have a compute budget. */
export const hasComputeBudgets = (transaction: { version: number }): boolean => transaction.version >= 1;

/** Returns the form of the node: the version as 4 hex digits, then the script. */
export const toScriptPublicKey = (version: number, script: string): string =>
  version.toString(16).padStart(4, '0') + script;

export const toPayload = (hexDigits: string): string => (hexDigits === '' ? '' : `0x${hexDigits}`);

/** Does in SQL what `toScriptPublicKey` does. */
export const scriptPublicKey = (version: string, script: string): RawBuilder<string> =>
  sql`lpad(to_hex(${sql.ref(version)}), 4, '0') || encode(${sql.ref(script)}, 'hex')`;

export const transactionPayload: RawBuilder<string> = sql`
  case when octet_length(transactions.payload) = 0 then ''
    else '0x' || encode(transactions.payload, 'hex') end`;

/** Tests whether a transaction is accepted, by an indexed block or before a bootstrap block. */
export const isAccepted = (transactions = 'transactions'): RawBuilder<boolean> => sql`(
  ${sql.ref(`${transactions}.accepting_index`)} is not null or is_pre_bootstrap(${sql.ref(`${transactions}.id`)}))`;

/**
 * The fields of a row of `transactions`, in its variant with a number (docs/architecture.md); 0 or
 * null is the first one.
 */
export const transactionFields = (number: RawBuilder<number | null>) => {
  const ofVariant = (column: string): RawBuilder<unknown> => sql`
    case when ${number} > 0 then (variant_of(transactions.id, ${number})).${sql.ref(column)}
      else ${sql.ref(`transactions.${column}`)} end`;
  return {
    transactionId,
    version: sql<number>`transactions.version`,
    lockTime: text('transactions.lock_time'),
    gas: text('transactions.gas'),
    subnetworkId: hex('subnetworks.subnetwork_id'),
    hash: sql<string>`encode(${ofVariant('hash')}, 'hex')`,
    mass: sql<string>`(${ofVariant('storage_mass')})::text`,
    computeMass: sql<string>`(${ofVariant('compute_mass')})::text`,
  };
};

export const transactionId = hex('transactions.transaction_id');

/**
 * Joins `input` with the transaction of the UTXO that it spends, unless that is pre-bootstrap or
 * was never seen.
 */
export const joinPrevious = sql`left join transactions previous on previous.id = input.previous_transaction_id`;

/** The fields of a row `input`, joined with `previous`, in a variant of its transaction. */
export const inputFields = (number: RawBuilder<number | null>) => {
  const ofVariant = (column: string): RawBuilder<unknown> => sql`
    case when ${number} > 0 then (variant_input(input.transaction_id, ${number},
      input.index)).${sql.ref(column)}
      else ${sql.ref(`input.${column}`)} end`;
  return {
    previousTransactionId: sql<string>`encode(coalesce(previous.transaction_id,
      nullif(input.previous_transaction_hash, ''),
      pre_bootstrap_transaction_id(input.previous_transaction_id)), 'hex')`,
    previousIndex: sql<number>`input.previous_index`,
    signatureScript: sql<string>`encode(${ofVariant('signature_script')}, 'hex')`,
    sequence: text('input.sequence'),
    sigOpCount: sql<number>`${ofVariant('sig_op_count')}`,
    computeBudget: optional(sql`transactions.version >= 1`, sql<number>`${ofVariant('compute_budget')}`),
  };
};

export const outputCovenant = optional(
  sql`output.covenant_id is not null`,
  jsonObject<NonNullable<TransactionOutputJson['covenant']>>({
    authorizingInput: sql`output.covenant_authorizing_input`,
    covenantId: hex('output.covenant_id'),
  }),
);
