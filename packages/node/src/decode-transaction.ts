/**
 * Decodes transactions by hand, since they are most of a catch-up's data. Field numbers are those
 * of protocol/kaspad.proto.
 */
import type {
  Covenant,
  Hash,
  Outpoint,
  ScriptPublicKey,
  Transaction,
  TransactionInput,
  TransactionOutput,
} from '@kasgres/kaspa';
import { NodeProtocolError } from './errors.ts';
import type { HexReader } from './hex-reader.ts';
import { bytesTag, varintTag } from './wire-reader.ts';

const TRANSACTION_VERSION = varintTag(1);
const TRANSACTION_INPUTS = bytesTag(2);
const TRANSACTION_OUTPUTS = bytesTag(3);
const TRANSACTION_LOCK_TIME = varintTag(4);
const TRANSACTION_SUBNETWORK_ID = bytesTag(5);
const TRANSACTION_GAS = varintTag(6);
const TRANSACTION_PAYLOAD = bytesTag(8);
const TRANSACTION_VERBOSE_DATA = bytesTag(9);
const TRANSACTION_STORAGE_MASS = varintTag(10);

const VERBOSE_TRANSACTION_ID = bytesTag(1);
const VERBOSE_HASH = bytesTag(2);

const INPUT_PREVIOUS_OUTPOINT = bytesTag(1);
const INPUT_SIGNATURE_SCRIPT = bytesTag(2);
const INPUT_SEQUENCE = varintTag(3);
const INPUT_SIG_OP_COUNT = varintTag(5);
const INPUT_COMPUTE_BUDGET = varintTag(6);

const OUTPOINT_TRANSACTION_ID = bytesTag(1);
const OUTPOINT_INDEX = varintTag(2);

const OUTPUT_AMOUNT = varintTag(1);
const OUTPUT_SCRIPT_PUBLIC_KEY = bytesTag(2);
const OUTPUT_COVENANT = bytesTag(4);

const SCRIPT_VERSION = varintTag(1);
const SCRIPT_BYTES = bytesTag(2);

const COVENANT_AUTHORIZING_INPUT = varintTag(1);
const COVENANT_ID = bytesTag(2);

const NO_BYTES = new Uint8Array(0);

export interface RpcTransaction extends Transaction {
  transactionId: Hash;
  /**
   * Distinguishes the variants of a transaction: unlike the id it covers signature scripts and
   * mass.
   */
  hash: Hash;
}

/** `reader` is at the length of the message. */
export function decodeTransaction(reader: HexReader): RpcTransaction {
  const outerEnd = reader.enter();
  let transactionId: Uint8Array | undefined;
  let hash: Uint8Array | undefined;
  let subnetworkId: Uint8Array | undefined;
  let version = 0;
  let lockTime = 0n;
  let gas = 0n;
  let payload: Uint8Array = NO_BYTES;
  let storageMass = 0n;
  const inputs: TransactionInput[] = [];
  const outputs: TransactionOutput[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === TRANSACTION_INPUTS) inputs.push(decodeInput(reader));
    else if (tag === TRANSACTION_OUTPUTS) outputs.push(decodeOutput(reader));
    else if (tag === TRANSACTION_SUBNETWORK_ID) subnetworkId = reader.hex();
    else if (tag === TRANSACTION_PAYLOAD) payload = reader.hex();
    else if (tag === TRANSACTION_VERSION) version = reader.uint16();
    else if (tag === TRANSACTION_STORAGE_MASS) storageMass = reader.uint64();
    else if (tag === TRANSACTION_LOCK_TIME) lockTime = reader.uint64();
    else if (tag === TRANSACTION_GAS) gas = reader.uint64();
    else if (tag === TRANSACTION_VERBOSE_DATA) {
      const transactionEnd = reader.enter();
      while (reader.more) {
        const verboseTag = reader.tag();
        if (verboseTag === VERBOSE_TRANSACTION_ID) transactionId = reader.hash();
        else if (verboseTag === VERBOSE_HASH) hash = reader.hash();
        else reader.skip(verboseTag);
      }
      reader.leave(transactionEnd);
    } else reader.skip(tag);
  }
  reader.leave(outerEnd);
  clearUncommitted(version, inputs, outputs);
  if (transactionId === undefined || hash === undefined) throw new NodeProtocolError('a transaction has no id or hash');
  if (subnetworkId?.length !== 20) throw new NodeProtocolError('a transaction has no subnetwork id of 20 bytes');
  return {
    transactionId,
    hash,
    version,
    inputs,
    outputs,
    lockTime,
    subnetworkId,
    gas,
    payload,
    storageMass,
  };
}

/**
 * Sig-op counts are of version 0, compute budgets and covenants of later ones: elsewhere no hash
 * commits to them.
 */
function clearUncommitted(
  version: number,
  inputs: readonly TransactionInput[],
  outputs: readonly TransactionOutput[],
): void {
  for (const input of inputs) {
    if (version === 0) input.computeBudget = 0;
    else input.sigOpCount = 0;
  }
  if (version > 0) return;
  for (const output of outputs) output.covenant = undefined;
}

function decodeInput(reader: HexReader): TransactionInput {
  const outerEnd = reader.enter();
  let previousOutpoint: Outpoint | undefined;
  let signatureScript: Uint8Array = NO_BYTES;
  let sequence = 0n;
  let sigOpCount = 0;
  let computeBudget = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === INPUT_PREVIOUS_OUTPOINT) previousOutpoint = decodeOutpoint(reader);
    else if (tag === INPUT_SIGNATURE_SCRIPT) signatureScript = reader.hex();
    else if (tag === INPUT_SEQUENCE) sequence = reader.uint64();
    else if (tag === INPUT_SIG_OP_COUNT) sigOpCount = reader.uint8();
    else if (tag === INPUT_COMPUTE_BUDGET) computeBudget = reader.uint16();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (previousOutpoint === undefined) throw new NodeProtocolError('an input has no outpoint');
  return { previousOutpoint, signatureScript, sequence, sigOpCount, computeBudget };
}

function decodeOutpoint(reader: HexReader): Outpoint {
  const outerEnd = reader.enter();
  let transactionId: Uint8Array | undefined;
  let index = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === OUTPOINT_TRANSACTION_ID) transactionId = reader.hash();
    else if (tag === OUTPOINT_INDEX) index = reader.uint32();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (transactionId === undefined) throw new NodeProtocolError('an outpoint has no transaction id');
  return { transactionId, index };
}

function decodeOutput(reader: HexReader): TransactionOutput {
  const outerEnd = reader.enter();
  let amount = 0n;
  let scriptPublicKey: ScriptPublicKey | undefined;
  let covenant: Covenant | undefined;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === OUTPUT_AMOUNT) amount = reader.uint64();
    else if (tag === OUTPUT_SCRIPT_PUBLIC_KEY) scriptPublicKey = decodeScriptPublicKey(reader);
    else if (tag === OUTPUT_COVENANT) covenant = decodeCovenant(reader);
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (scriptPublicKey === undefined) throw new NodeProtocolError('an output has no script public key');
  return { amount, scriptPublicKey, covenant };
}

function decodeScriptPublicKey(reader: HexReader): ScriptPublicKey {
  const outerEnd = reader.enter();
  let version = 0;
  let script: Uint8Array = NO_BYTES;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === SCRIPT_BYTES) script = reader.hex();
    else if (tag === SCRIPT_VERSION) version = reader.uint16();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  return { version, script };
}

function decodeCovenant(reader: HexReader): Covenant {
  const outerEnd = reader.enter();
  let authorizingInput = 0;
  let covenantId: Uint8Array | undefined;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === COVENANT_AUTHORIZING_INPUT) authorizingInput = reader.uint16();
    else if (tag === COVENANT_ID) covenantId = reader.hash();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (covenantId === undefined) throw new NodeProtocolError('a covenant has no id');
  return { authorizingInput, covenantId };
}
