/** One function per table turns items of a batch into rows. */
import { type Hash, type Network, classifyScript, scriptToAddress, type ScriptPublicKey } from '@kasgres/kaspa';
import { type BatchRows, packParents } from '@kasgres/database';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import type { ScriptDelta } from '@kasgres/state';
import type { ResolvedInput } from './resolve.ts';

export interface BlockContext {
  key: number;
  selectedParent: number | null;
  parents: number[];
  mergeSetBlues: number[];
  mergeSetReds: number[];
  isChainBlock: boolean;
  mergingBlock: number | null;
  isBlue: boolean | null;
}

export function writeBlock(rows: BatchRows, block: RpcBlock, context: BlockContext): void {
  const { header } = block;
  rows.blocks.write({
    id: context.key,
    hash: block.hash,
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
    selected_parent_id: context.selectedParent,
    merge_set_blues: context.mergeSetBlues,
    merge_set_reds: context.mergeSetReds,
    is_chain_block: context.isChainBlock,
    merging_block_id: context.mergingBlock,
    is_blue: context.isBlue,
  });
  context.parents.forEach((parent, index) => {
    rows.block_parents.write({ block_id: context.key, index, parent_id: parent });
  });
}

export function writePreBootstrapBlock(rows: BatchRows, key: number, hash: Hash): void {
  rows.earlier_blocks.write({ id: key, hash });
}

export function writeBlockTransaction(
  rows: BatchRows,
  block: number,
  index: number,
  { key, variant }: { key: number; variant: number },
): void {
  rows.block_transactions.write({ block_id: block, index, transaction_id: key, body: variant });
}

export function writeChainBlock(
  rows: BatchRows,
  { index, key, chainTime }: { index: number; key: number; chainTime: bigint },
  block: RpcBlock,
  accepted: number[],
): void {
  rows.chain_blocks.write({
    index,
    block_id: key,
    daa_score: block.header.daaScore,
    timestamp: block.header.timestamp,
    accepted_transactions: accepted,
    chain_time: chainTime,
  });
}

export function writeSubnetwork(rows: BatchRows, key: number, subnetworkId: Uint8Array): void {
  rows.subnetworks.write({ id: key, subnetwork_id: subnetworkId });
}

export function writeScript(rows: BatchRows, key: number, scriptPublicKey: ScriptPublicKey, network: Network): void {
  rows.scripts.write({
    id: key,
    version: scriptPublicKey.version,
    script: scriptPublicKey.script,
    type: classifyScript(scriptPublicKey),
    address: scriptToAddress(scriptPublicKey, network.addressPrefix),
  });
}

export interface TransactionContext {
  key: number;
  subnetwork: number;
  fee: bigint | null;
  acceptingBlock: number | null;
  acceptedVariant: number | null;
}

export function writeTransaction(rows: BatchRows, transaction: RpcTransaction, context: TransactionContext): void {
  rows.transactions.write({
    id: context.key,
    transaction_id: transaction.transactionId,
    hash: transaction.hash,
    version: transaction.version,
    lock_time: transaction.lockTime,
    subnetwork_id: context.subnetwork,
    gas: transaction.gas,
    payload: transaction.payload,
    storage_mass: transaction.storageMass,
    compute_mass: transaction.computeMass,
    fee: context.fee,
    accepting_block_id: context.acceptingBlock,
    accepted_body: context.acceptedVariant,
  });
}

export function writeInputs(
  rows: BatchRows,
  key: number,
  transaction: RpcTransaction,
  resolved: ResolvedInput[],
): void {
  transaction.inputs.forEach((input, index) => {
    const { transaction: previous, utxo } = resolved[index] as ResolvedInput;
    rows.transaction_inputs.write({
      transaction_id: key,
      index,
      previous_transaction_id: previous,
      previous_transaction_hash: previous === undefined ? input.previousOutpoint.transactionId : null,
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
  key: number,
  transaction: RpcTransaction,
  scripts: readonly number[],
): void {
  transaction.outputs.forEach(({ amount, covenant }, index) => {
    rows.transaction_outputs.write({
      transaction_id: key,
      index,
      amount,
      script_id: scripts[index] as number,
      covenant_authorizing_input: covenant?.authorizingInput,
      covenant_id: covenant?.covenantId,
    });
  });
}

export function writeVariant(rows: BatchRows, key: number, variant: number, transaction: RpcTransaction): void {
  rows.transaction_bodies.write({
    transaction_id: key,
    body: variant,
    hash: transaction.hash,
    storage_mass: transaction.storageMass,
    compute_mass: transaction.computeMass,
  });
  transaction.inputs.forEach((input, index) => {
    rows.transaction_body_inputs.write({
      transaction_id: key,
      body: variant,
      index,
      signature_script: input.signatureScript,
      sig_op_count: input.sigOpCount,
      compute_budget: input.computeBudget,
    });
  });
}

/** @param deltas of the transaction, by script */
export function writeAddressTransactions(rows: BatchRows, key: number, deltas: ReadonlyMap<number, ScriptDelta>): void {
  for (const [script, { sent, received }] of deltas) {
    rows.address_transactions.write({
      script_id: script,
      transaction_id: key,
      amount_sent: sent,
      amount_received: received,
    });
  }
}
