/** One function a table: the fields of a row, in the order of its columns (batch.ts). */
import { type Hash, type Network, classifyScript, scriptToAddress, type ScriptPublicKey } from '@kasgres/kaspa';
import { packParents } from '@kasgres/database';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import type { Move } from '../rollups/chain-block-totals.ts';
import type { Rows } from './rows.ts';
import type { NewUtxo } from './ledger.ts';

import type { ResolvedInput } from './resolve.ts';

export interface BlockPlace {
  key: number;
  selectedParent: number | null;
  parents: number[];
  mergeSetBlues: number[];
  mergeSetReds: number[];
  isChainBlock: boolean;
  mergingBlock: number | null;
  isBlue: boolean | null;
}

export function writeBlock(rows: Rows, block: RpcBlock, place: BlockPlace): void {
  const { header } = block;
  const to = rows.blocks;
  to.row();
  to.key(place.key);
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
  keyOrNull(to, place.selectedParent);
  to.keys(place.mergeSetBlues);
  to.keys(place.mergeSetReds);
  to.boolean(place.isChainBlock);
  keyOrNull(to, place.mergingBlock);
  if (place.isBlue === null) to.null();
  else to.boolean(place.isBlue);
  place.parents.forEach((parent, index) => {
    rows.block_parents.row();
    rows.block_parents.key(place.key);
    rows.block_parents.smallint(index);
    rows.block_parents.key(parent);
  });
}

export function writeEarlierBlock(rows: Rows, key: number, hash: Hash): void {
  rows.earlier_blocks.row();
  rows.earlier_blocks.key(key);
  rows.earlier_blocks.bytea(hash);
}

export function writeBlockTransaction(
  rows: Rows,
  block: number,
  index: number,
  { key, body }: { key: number; body: number },
): void {
  const to = rows.block_transactions;
  to.row();
  to.key(block);
  to.integer(index);
  to.key(key);
  to.integer(body);
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

export interface TransactionPlace {
  key: number;
  subnetwork: number;
  fee: bigint | null;
  acceptingBlock: number | null;
  acceptedBody: number | null;
}

export function writeTransaction(rows: Rows, transaction: RpcTransaction, place: TransactionPlace): void {
  const to = rows.transactions;
  to.row();
  to.key(place.key);
  to.bytea(transaction.transactionId);
  to.bytea(transaction.hash);
  to.integer(transaction.version);
  to.numeric(transaction.lockTime);
  to.key(place.subnetwork);
  to.numeric(transaction.gas);
  to.bytea(transaction.payload);
  to.bigint(transaction.storageMass);
  to.bigint(transaction.computeMass);
  if (place.fee === null) to.null();
  else to.bigint(place.fee);
  keyOrNull(to, place.acceptingBlock);
  if (place.acceptedBody === null) to.null();
  else to.integer(place.acceptedBody);
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

export function writeFurtherBody(rows: Rows, key: number, body: number, transaction: RpcTransaction): void {
  const to = rows.transaction_bodies;
  to.row();
  to.key(key);
  to.integer(body);
  to.bytea(transaction.hash);
  to.bigint(transaction.storageMass);
  to.bigint(transaction.computeMass);
  transaction.inputs.forEach((input, index) => {
    const inputs = rows.transaction_body_inputs;
    inputs.row();
    inputs.key(key);
    inputs.integer(body);
    inputs.integer(index);
    inputs.bytea(input.signatureScript);
    inputs.integer(input.sigOpCount);
    inputs.integer(input.computeBudget);
  });
}

export function writeUtxo(rows: Rows, utxo: NewUtxo): void {
  const to = rows.utxos;
  to.row();
  to.key(utxo.transaction);
  to.key(utxo.index);
  to.key(utxo.script);
  to.bigint(utxo.amount);
  to.bigint(utxo.blockDaaScore);
  to.boolean(utxo.isCoinbase);
}

/** @param moves of the transaction, by script */
export function writeAddressTransactions(rows: Rows, key: number, moves: ReadonlyMap<number, Move>): void {
  const to = rows.address_transactions;
  for (const [script, { sent, received }] of moves) {
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
