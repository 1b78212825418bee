/** Turns items of a batch into rows. */
import {
  type BatchRow,
  type BatchRows,
  type BlockKey,
  packParents,
  type ScriptKey,
  type TransactionKey,
} from '@kasgres/database';
import { classifyScript, computeMass, type Network, type ScriptPublicKey, scriptToAddress } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { jsonBytes } from './json-bytes.ts';
import type { ResolvedInput } from './resolve.ts';

const NONE = new Uint8Array();

interface BlockKeys {
  key: BlockKey;
  selectedParent: BatchRow<'blocks'>['selected_parent_id'];
  parents: BatchRow<'block_parents'>['parent_id'][];
  mergeSetBlues: BatchRow<'blocks'>['merge_set_blues'];
  mergeSetReds: BatchRow<'blocks'>['merge_set_reds'];
  isChainBlock: boolean;
  mergingBlock: BatchRow<'blocks'>['merging_block_id'];
  isBlue: boolean | null;
  minerScript: BatchRow<'blocks'>['miner_script_id'];
  subsidy: bigint | undefined;
}

export function writeBlock(rows: BatchRows, { hash, header, transactions }: RpcBlock, keys: BlockKeys): void {
  rows.blocks.write({
    id: keys.key,
    hash,
    version: header.version,
    parents_by_level: packParents(header.parentsByLevel.slice(1)),
    hash_merkle_root: header.hashMerkleRoot,
    accepted_id_merkle_root: header.acceptedIdMerkleRoot,
    utxo_commitment: header.utxoCommitment,
    timestamp: header.timestamp,
    bits: header.bits,
    nonce: header.nonce,
    daa_score: header.daaScore,
    blue_work: header.blueWork,
    blue_score: header.blueScore,
    pruning_point: header.pruningPoint,
    selected_parent_id: keys.selectedParent,
    merge_set_blues: keys.mergeSetBlues,
    merge_set_reds: keys.mergeSetReds,
    is_chain_block: keys.isChainBlock,
    merging_block_id: keys.mergingBlock,
    miner_script_id: keys.minerScript,
    subsidy: keys.subsidy,
    is_blue: keys.isBlue,
    transaction_count: transactions.length,
  });
  keys.parents.forEach((parent, index) => {
    rows.block_parents.write({ block_id: keys.key, index, parent_id: parent });
  });
}

export function writeScript(rows: BatchRows, key: ScriptKey, scriptPublicKey: ScriptPublicKey, network: Network): void {
  rows.scripts.write({
    id: key,
    version: scriptPublicKey.version,
    script: scriptPublicKey.script,
    type: classifyScript(scriptPublicKey),
    address: scriptToAddress(scriptPublicKey, network.addressPrefix),
  });
}

interface TransactionKeys {
  key: TransactionKey;
  subnetwork: BatchRow<'transactions'>['subnetwork_id'];
  fee: BatchRow<'transactions'>['fee'];
  acceptingIndex: BatchRow<'transactions'>['accepting_index'];
  acceptedVariant: number | null;
}

export function writeTransaction(rows: BatchRows, transaction: RpcTransaction, keys: TransactionKeys): void {
  rows.transactions.write({
    id: keys.key,
    transaction_id: transaction.transactionId,
    hash: transaction.hash,
    version: transaction.version,
    lock_time: transaction.lockTime,
    subnetwork_id: keys.subnetwork,
    gas: transaction.gas,
    payload: transaction.payload,
    storage_mass: transaction.storageMass,
    compute_mass: computeMass(transaction),
    json_bytes: jsonBytes(transaction),
    fee: keys.fee,
    accepting_index: keys.acceptingIndex,
    accepted_variant: keys.acceptedVariant,
  });
}

/** @param resolved one for each input */
export function writeInputs(
  rows: BatchRows,
  key: TransactionKey,
  { inputs }: RpcTransaction,
  resolved: ResolvedInput[],
): void {
  inputs.forEach((input, index) => {
    const { transaction: previous, utxo } = resolved[index] as ResolvedInput;
    rows.transaction_inputs.write({
      transaction_id: key,
      index,
      previous_transaction_id: previous,
      previous_transaction_hash: previous === undefined ? input.previousOutpoint.transactionId : NONE,
      previous_index: input.previousOutpoint.index,
      signature_script: input.signatureScript,
      sequence: input.sequence,
      sig_op_count: input.sigOpCount,
      compute_budget: input.computeBudget,
      amount: utxo?.amount,
      script_id: utxo?.script,
    });
  });
}

/** @param scripts one for each output */
export function writeOutputs(
  rows: BatchRows,
  key: TransactionKey,
  { outputs }: RpcTransaction,
  scripts: ScriptKey[],
): void {
  outputs.forEach(({ amount, covenant }, index) => {
    rows.transaction_outputs.write({
      transaction_id: key,
      index,
      amount,
      script_id: scripts[index] as ScriptKey,
      covenant_authorizing_input: covenant?.authorizingInput,
      covenant_id: covenant?.covenantId,
    });
  });
}

export function writeVariant(rows: BatchRows, key: TransactionKey, variant: number, transaction: RpcTransaction): void {
  rows.transaction_variants.write({
    transaction_id: key,
    variant,
    hash: transaction.hash,
    storage_mass: transaction.storageMass,
    compute_mass: computeMass(transaction),
    json_bytes: jsonBytes(transaction),
  });
  transaction.inputs.forEach((input, index) => {
    rows.transaction_variant_inputs.write({
      transaction_id: key,
      variant,
      index,
      signature_script: input.signatureScript,
      sig_op_count: input.sigOpCount,
      compute_budget: input.computeBudget,
    });
  });
}
