/** One function per table writes the fields of a row in the order of its columns (rows.ts). */
import { type Hash, type Network, classifyScript, scriptToAddress, type ScriptPublicKey } from '@kasgres/kaspa';
import { packParents } from '@kasgres/database';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import type { ScriptDelta } from '@kasgres/state';
import type { ResolvedInput } from './resolve.ts';
import type { Rows } from './rows.ts';

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

export function writeBlock(rows: Rows, block: RpcBlock, context: BlockContext): void {
  const { header } = block;
  const to = rows.blocks;
  to.row();
  to.key(context.key);
  to.bytea(block.hash);
  to.integer(header.version);
  to.bytea(packParents(header.parentsByLevel.slice(1)));
  to.bytea(header.hashMerkleRoot);
  to.bytea(header.acceptedIdMerkleRoot);
  to.bytea(header.utxoCommitment);
  to.bigint(header.timestamp);
  to.key(header.bits);
  to.numeric(header.nonce);
  to.bigint(header.daaScore);
  to.numeric(header.blueWork);
  to.bigint(header.blueScore);
  to.bytea(header.pruningPoint);
  keyOrNull(to, context.selectedParent);
  to.keys(context.mergeSetBlues);
  to.keys(context.mergeSetReds);
  to.boolean(context.isChainBlock);
  keyOrNull(to, context.mergingBlock);
  if (context.isBlue === null) to.null();
  else to.boolean(context.isBlue);
  context.parents.forEach((parent, index) => {
    rows.block_parents.row();
    rows.block_parents.key(context.key);
    rows.block_parents.smallint(index);
    rows.block_parents.key(parent);
  });
}

export function writePreBootstrapBlock(rows: Rows, key: number, hash: Hash): void {
  rows.earlier_blocks.row();
  rows.earlier_blocks.key(key);
  rows.earlier_blocks.bytea(hash);
}

export function writeBlockTransaction(
  rows: Rows,
  block: number,
  index: number,
  { key, variant }: { key: number; variant: number },
): void {
  const to = rows.block_transactions;
  to.row();
  to.key(block);
  to.integer(index);
  to.key(key);
  to.integer(variant);
}

export function writeChainBlock(
  rows: Rows,
  { index, key, chainTime }: { index: number; key: number; chainTime: bigint },
  block: RpcBlock,
  accepted: number[],
): void {
  const to = rows.chain_blocks;
  to.row();
  to.key(index);
  to.key(key);
  to.bigint(block.header.daaScore);
  to.bigint(block.header.timestamp);
  to.keys(accepted);
  to.bigint(chainTime);
}

export function writeSubnetwork(rows: Rows, key: number, subnetworkId: Uint8Array): void {
  rows.subnetworks.row();
  rows.subnetworks.key(key);
  rows.subnetworks.bytea(subnetworkId);
}

export function writeScript(rows: Rows, key: number, scriptPublicKey: ScriptPublicKey, network: Network): void {
  const to = rows.scripts;
  const address = scriptToAddress(scriptPublicKey, network.addressPrefix);
  to.row();
  to.key(key);
  to.integer(scriptPublicKey.version);
  to.bytea(scriptPublicKey.script);
  to.text(classifyScript(scriptPublicKey));
  if (address === undefined) to.null();
  else to.text(address);
}

export interface TransactionContext {
  key: number;
  subnetwork: number;
  fee: bigint | null;
  acceptingBlock: number | null;
  acceptedVariant: number | null;
}

export function writeTransaction(rows: Rows, transaction: RpcTransaction, context: TransactionContext): void {
  const to = rows.transactions;
  to.row();
  to.key(context.key);
  to.bytea(transaction.transactionId);
  to.bytea(transaction.hash);
  to.integer(transaction.version);
  to.numeric(transaction.lockTime);
  to.key(context.subnetwork);
  to.numeric(transaction.gas);
  to.bytea(transaction.payload);
  to.bigint(transaction.storageMass);
  to.bigint(transaction.computeMass);
  if (context.fee === null) to.null();
  else to.bigint(context.fee);
  keyOrNull(to, context.acceptingBlock);
  if (context.acceptedVariant === null) to.null();
  else to.integer(context.acceptedVariant);
}

export function writeInputs(rows: Rows, key: number, transaction: RpcTransaction, resolved: ResolvedInput[]): void {
  const to = rows.transaction_inputs;
  transaction.inputs.forEach((input, index) => {
    const { transaction: previous, utxo } = resolved[index] as ResolvedInput;
    to.row();
    to.key(key);
    to.integer(index);
    if (previous === undefined) {
      to.null();
      to.bytea(input.previousOutpoint.transactionId);
    } else {
      to.key(previous);
      to.null();
    }
    to.key(input.previousOutpoint.index);
    to.bytea(input.signatureScript);
    to.numeric(input.sequence);
    to.integer(input.sigOpCount);
    to.integer(input.computeBudget);
    if (utxo === undefined) {
      to.null();
      to.null();
    } else {
      to.bigint(utxo.amount);
      to.key(utxo.script);
    }
  });
}

/** @param scripts one for each output */
export function writeOutputs(rows: Rows, key: number, transaction: RpcTransaction, scripts: readonly number[]): void {
  const to = rows.transaction_outputs;
  transaction.outputs.forEach(({ amount, covenant }, index) => {
    to.row();
    to.key(key);
    to.integer(index);
    to.bigint(amount);
    to.key(scripts[index] as number);
    if (covenant === undefined) {
      to.null();
      to.null();
    } else {
      to.integer(covenant.authorizingInput);
      to.bytea(covenant.covenantId);
    }
  });
}

export function writeVariant(rows: Rows, key: number, variant: number, transaction: RpcTransaction): void {
  const to = rows.transaction_bodies;
  to.row();
  to.key(key);
  to.integer(variant);
  to.bytea(transaction.hash);
  to.bigint(transaction.storageMass);
  to.bigint(transaction.computeMass);
  transaction.inputs.forEach((input, index) => {
    const inputs = rows.transaction_body_inputs;
    inputs.row();
    inputs.key(key);
    inputs.integer(variant);
    inputs.integer(index);
    inputs.bytea(input.signatureScript);
    inputs.integer(input.sigOpCount);
    inputs.integer(input.computeBudget);
  });
}

/** @param deltas of the transaction, by script */
export function writeAddressTransactions(rows: Rows, key: number, deltas: ReadonlyMap<number, ScriptDelta>): void {
  const to = rows.address_transactions;
  for (const [script, { sent, received }] of deltas) {
    to.row();
    to.key(script);
    to.key(key);
    to.bigint(sent);
    to.bigint(received);
  }
}

function keyOrNull(to: Rows['blocks'], key: number | null): void {
  if (key === null) to.null();
  else to.key(key);
}
