/** Loads the transactions of blocks, in the form of the endpoints under /v1/rpc. */
import type { Reading } from '../../index-state/state.ts';
import type { TransactionInputJson, TransactionJson, TransactionOutputJson } from '../../schemas/transaction.ts';
import { groupRows } from '../shared.ts';
import {
  type ContainedRow,
  type InputRow,
  listContained,
  listOutputs,
  loadVariants,
  type OutputRow,
  selectInputs,
} from './queries.ts';

/** The block that a transaction is shown in, with its time in Unix milliseconds as text. */
interface ContainingBlock {
  id: bigint;
  hash: string;
  timestamp: string;
}

/** Loads the transactions of blocks by block id, in the order of each block, each as the variant that the block contains. */
export async function loadTransactions(
  { db, slices }: Pick<Reading, 'db' | 'slices'>,
  blocks: readonly ContainingBlock[],
): Promise<Map<bigint, TransactionJson[]>> {
  const blockIds = blocks.map(({ id }) => id);
  const contained = await listContained(db, blockIds);
  const ids = [...new Set(contained.map((row) => row.id))];
  const inputsOf = groupRows(await selectInputs(db, ids).execute(), (row) => row.transaction_id);
  const outputsOf = groupRows(await listOutputs(db, ids), (row) => row.transaction_id);
  const toVariant = await loadVariants(db, contained);
  const containedIn = groupRows(contained, (row) => row.block_id);
  const ofBlocks = await slices.map(blocks, (block) => {
    const transactions = containedIn(block.id).map((row) => {
      const variant = toVariant(row, inputsOf(row.id));
      return toTransaction(variant.row, variant.inputs, outputsOf(row.id), block);
    });
    return [block.id, transactions] as const;
  });
  return new Map(ofBlocks);
}

/** Inputs of transaction version 1 and later have a compute budget. */
export const hasComputeBudgets = (transaction: { version: number }): boolean => transaction.version >= 1;

export function toTransaction(
  row: ContainedRow,
  inputs: readonly InputRow[],
  outputs: readonly OutputRow[],
  block: Omit<ContainingBlock, 'id'>,
): TransactionJson {
  const hasBudgets = hasComputeBudgets(row);
  return {
    version: row.version,
    inputs: inputs.map((input) => toInput(input, hasBudgets)),
    outputs: outputs.map(toOutput),
    lockTime: row.lock_time,
    subnetworkId: row.subnetwork_id,
    gas: row.gas,
    payload: toPayload(row.payload),
    mass: row.storage_mass,
    verboseData: {
      transactionId: row.transaction_id,
      hash: row.hash,
      computeMass: row.compute_mass,
      blockHash: block.hash,
      blockTime: block.timestamp,
    },
  };
}

function toInput(row: InputRow, hasBudget: boolean): TransactionInputJson {
  const input: TransactionInputJson = {
    previousOutpoint: { transactionId: row.previous_transaction_id, index: Number(row.previous_index) },
    sequence: row.sequence,
    sigOpCount: row.sig_op_count,
    signatureScript: row.signature_script,
  };
  if (hasBudget) input.computeBudget = row.compute_budget;
  return input;
}

function toOutput(row: OutputRow): TransactionOutputJson {
  const output: TransactionOutputJson = {
    value: row.amount,
    scriptPublicKey: toScriptPublicKey(row.version, row.script),
  };
  if (row.address !== null) {
    output.verboseData = { scriptPublicKeyType: row.type, scriptPublicKeyAddress: row.address };
  }
  const covenant = toCovenant(row);
  if (covenant !== undefined) output.covenant = covenant;
  return output;
}

export function toCovenant(row: OutputRow): TransactionOutputJson['covenant'] {
  if (row.covenant_id === null || row.covenant_authorizing_input === null) return undefined;
  return { authorizingInput: row.covenant_authorizing_input, covenantId: row.covenant_id };
}

/** Returns the form of the node: the version as 4 hex digits, then the script. */
export const toScriptPublicKey = (version: number, script: string): string =>
  version.toString(16).padStart(4, '0') + script;

export const toPayload = (hex: string): string => (hex === '' ? '' : `0x${hex}`);
