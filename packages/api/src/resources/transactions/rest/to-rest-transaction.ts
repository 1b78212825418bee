/** Converts rows to a transaction in the form of listings and look-ups. */
import type { OutputRow } from '../queries.ts';
import { hasComputeBudgets, toCovenant, toPayload } from '../load-transactions.ts';
import type { ContainingBlockRow, RestTransactionRow, SpenderRow, SpendingInputRow } from './load-rest-transactions.ts';
import type { RestInputJson, RestOutputJson, RestTransactionJson } from './schemas.ts';

/** Rows of a transaction beside its own. */
export interface RelatedRows {
  /** Earliest first. */
  blocks: readonly ContainingBlockRow[];
  inputs: readonly SpendingInputRow[];
  outputs: readonly OutputRow[];
  spenders: readonly SpenderRow[];
}

export function toRestTransaction(
  row: RestTransactionRow,
  related: RelatedRows,
  sinkBlueScore: bigint,
): RestTransactionJson {
  const { transaction_id: transactionId, accepting_block_blue_score: acceptingBlueScore } = row;
  const inputs = related.inputs.map((input, index) => toInput(row, input, index));
  const spentBy = new Map(related.spenders.map((spender) => [Number(spender.index), spender.spent_by]));
  return {
    transactionId,
    version: row.version,
    blockTime: toBlockTime(row, related.blocks),
    subnetworkId: row.subnetwork_id,
    hash: row.hash,
    mass: row.storage_mass,
    computeMass: row.compute_mass,
    fee: inputs.some((input) => input.previousOutput.amount === null) ? null : row.fee,
    lockTime: row.lock_time,
    gas: row.gas,
    ...(row.payload !== undefined && { payload: toPayload(row.payload) }),
    blockHashes: related.blocks.map((block) => block.hash),
    isAccepted: row.is_accepted,
    acceptingBlockHash: row.accepting_block_hash,
    acceptingBlockBlueScore: acceptingBlueScore === null ? null : String(acceptingBlueScore),
    confirmations: row.is_accepted ? Number(sinkBlueScore - row.acceptance_blue_score) : 0,
    inputs,
    outputs: related.outputs.map((output, index) => toOutput(transactionId, output, index, spentBy.get(index) ?? null)),
  };
}

/** Uses the blocks that the accepting block merges, since the transaction was accepted from one of them; all blocks if that is unknown. */
function toBlockTime(row: RestTransactionRow, blocks: readonly ContainingBlockRow[]): number {
  const isSource = (block: ContainingBlockRow) => block.merging_block_id === row.accepting_block_id;
  const earliest = row.accepting_block_id === null ? blocks[0] : blocks.find(isSource);
  if (earliest === undefined) {
    throw new Error(`transaction ${row.transaction_id} is in no block from which it could be accepted`);
  }
  return Number(earliest.timestamp);
}

/** A UTXO whose transaction is not accepted does not exist, and a transaction that spends it is not accepted either. */
function toInput(transaction: RestTransactionRow, row: SpendingInputRow, index: number): RestInputJson {
  const exists = transaction.is_accepted || row.is_previous_accepted;
  return {
    transactionId: transaction.transaction_id,
    index,
    signatureScript: row.signature_script,
    sequence: row.sequence,
    sigOpCount: row.sig_op_count,
    ...(hasComputeBudgets(transaction) && { computeBudget: row.compute_budget }),
    previousOutput: {
      transactionId: row.previous_transaction_id,
      index: Number(row.previous_index),
      amount: exists ? row.amount : null,
      scriptPublicKey: exists ? row.script : null,
      scriptPublicKeyAddress: exists ? row.address : null,
      scriptPublicKeyType: exists ? row.type : null,
    },
  };
}

function toOutput(transactionId: string, row: OutputRow, index: number, spentBy: string | null): RestOutputJson {
  const covenant = toCovenant(row);
  return {
    transactionId,
    index,
    amount: row.amount,
    scriptPublicKey: row.script,
    scriptPublicKeyAddress: row.address,
    scriptPublicKeyType: row.type,
    ...(covenant && { covenant }),
    spentBy,
  };
}
