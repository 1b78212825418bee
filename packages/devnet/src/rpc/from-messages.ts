/**
 * Reads the fields of requests. Throws `NodeResponseError` with kaspad's message if they cannot be
 * parsed.
 */
import {
  AddressError,
  addressToScript,
  fromHex,
  HexError,
  type Hash,
  type Header,
  parseBlueWork,
  type ScriptPublicKey,
  toHex,
  type Transaction,
} from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { NodeResponseError } from '../dag/node-state.ts';

/** Returns lower-case hex. */
export function readHash(text: string): string {
  return toHex(readHashBytes(text));
}

/**
 * The script that an address of any network pays to: the node looks at the prefix only in block
 * templates.
 */
export function readAddress(text: string): ScriptPublicKey {
  try {
    return addressToScript(text);
  } catch (error) {
    if (error instanceof AddressError) throw new NodeResponseError(addressProblem(text, error));
    throw error;
  }
}

export function readBlock(block: protocol.Block | undefined): { header: Header; transactions: Transaction[] } {
  if (block?.header === undefined) throw missingField('RpcBlock', 'header');
  return { header: readHeader(block.header), transactions: block.transactions.map(readTransaction) };
}

export function readTransaction(message: protocol.Transaction | undefined): Transaction {
  if (message === undefined) throw missingField('SubmitTransactionRequestMessage', 'transaction');
  return {
    version: message.version,
    inputs: message.inputs.map((input) => {
      if (input.previousOutpoint === undefined) throw missingField('RpcTransactionInput', 'previous_outpoint');
      return {
        previousOutpoint: {
          transactionId: readHashBytes(input.previousOutpoint.transactionId),
          index: input.previousOutpoint.index,
        },
        signatureScript: readHex(input.signatureScript),
        sequence: input.sequence,
        sigOpCount: input.sigOpCount,
        computeBudget: input.computeBudget,
      };
    }),
    outputs: message.outputs.map(({ amount, scriptPublicKey, covenant }) => {
      if (scriptPublicKey === undefined) throw missingField('RpcTransactionOutput', 'script_public_key');
      return {
        amount,
        scriptPublicKey: { version: scriptPublicKey.version, script: readHex(scriptPublicKey.scriptPublicKey) },
        covenant: covenant && {
          authorizingInput: covenant.authorizingInput,
          covenantId: readHashBytes(covenant.covenantId),
        },
      };
    }),
    lockTime: message.lockTime,
    subnetworkId: readHex(message.subnetworkId),
    gas: message.gas,
    payload: readHex(message.payload),
    storageMass: message.storageMass,
  };
}

export function readHeader(message: protocol.Header): Header {
  return {
    version: message.version,
    parentsByLevel: message.parents.map(({ parentHashes }) => parentHashes.map(readHashBytes)),
    hashMerkleRoot: readHashBytes(message.hashMerkleRoot),
    acceptedIdMerkleRoot: readHashBytes(message.acceptedIdMerkleRoot),
    utxoCommitment: readHashBytes(message.utxoCommitment),
    timestamp: message.timestamp,
    bits: message.bits,
    nonce: message.nonce,
    daaScore: message.daaScore,
    blueWork: parseBlueWork(message.blueWork),
    blueScore: message.blueScore,
    pruningPoint: readHashBytes(message.pruningPoint),
  };
}

function readHashBytes(text: string): Hash {
  if (text.length !== 64) throw new NodeResponseError('Hex parsing error: Invalid input length 64');
  return readHex(text);
}

function readHex(text: string): Uint8Array {
  try {
    return fromHex(text);
  } catch (error) {
    if (!(error instanceof HexError)) throw error;
    const reason = text.length % 2 === 0 ? 'Invalid character' : `Invalid input length ${text.length}`;
    throw new NodeResponseError(`Hex parsing error: ${reason}`, { cause: error });
  }
}

function missingField(message: string, field: string): NodeResponseError {
  return new NodeResponseError(`Missing required field ${message}.${field}`);
}

function addressProblem(text: string, { reason }: AddressError): string {
  const colon = text.indexOf(':');
  if (reason === 'missing-prefix') return 'The address prefix is missing';
  if (reason === 'unknown-prefix') return `The address has an invalid prefix ${text.slice(0, colon)}`;
  const hasChecksum = text.length - colon > 8;
  return reason === 'bad-checksum' && hasChecksum
    ? 'The address checksum is invalid'
    : 'The address payload is invalid';
}
