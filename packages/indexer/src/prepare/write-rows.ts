import { type BatchRows, packParents } from '@kasgres/database';
import { classifyScript, type Network, type ScriptPublicKey, scriptToAddress } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import type { ResolvedInput } from './resolve.ts';

interface BlockKeys {
  key: number;
  selectedParent: number | null;
  parents: number[];
  mergeSetBlues: number[];
  mergeSetReds: number[];
  isChainBlock: boolean;
  mergingBlock: number | null;
  isBlue: boolean | null;
}

export function writeBlock(rows: BatchRows, { hash, header }: RpcBlock, keys: BlockKeys): void {
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
    is_blue: keys.isBlue,
  });
  keys.parents.forEach((parent, index) => {
    rows.block_parents.write({ block_id: keys.key, index, parent_id: parent });
  });
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

interface TransactionKeys {
  key: number;
  subnetwork: number;
  fee: bigint | null;
  acceptingBlock: number | null;
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
    compute_mass: transaction.computeMass,
    fee: keys.fee,
    accepting_block_id: keys.acceptingBlock,
    accepted_body: keys.acceptedVariant,
  });
}

export function writeInputs(rows: BatchRows, key: number, { inputs }: RpcTransaction, resolved: ResolvedInput[]): void {
  inputs.forEach((input, index) => {
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

export function writeOutputs(rows: BatchRows, key: number, { outputs }: RpcTransaction, scripts: number[]): void {
  outputs.forEach(({ amount, covenant }, index) => {
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
