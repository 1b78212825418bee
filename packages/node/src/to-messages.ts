/**
 * Converts headers and transactions to protocol messages for submission, without hashes and verbose
 * data.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  formatBlueWork,
  type Header,
  type Outpoint,
  type ScriptPublicKey,
  toHex,
  type Transaction,
  type TransactionInput,
  type TransactionOutput,
} from '@kasgres/kaspa';
import type {
  HeaderSchema,
  OutpointSchema,
  ScriptPublicKeySchema,
  TransactionInputSchema,
  TransactionOutputSchema,
  TransactionSchema,
} from './generated/kaspad_pb.ts';

export function toHeaderMessage(header: Header): MessageInitShape<typeof HeaderSchema> {
  return {
    version: header.version,
    hashMerkleRoot: toHex(header.hashMerkleRoot),
    acceptedIdMerkleRoot: toHex(header.acceptedIdMerkleRoot),
    utxoCommitment: toHex(header.utxoCommitment),
    timestamp: header.timestamp,
    bits: header.bits,
    nonce: header.nonce,
    daaScore: header.daaScore,
    blueWork: formatBlueWork(header.blueWork),
    parents: header.parentsByLevel.map((level) => ({ parentHashes: level.map(toHex) })),
    blueScore: header.blueScore,
    pruningPoint: toHex(header.pruningPoint),
  };
}

export function toTransactionMessage(transaction: Transaction) {
  return {
    version: transaction.version,
    inputs: transaction.inputs.map(toInputMessage),
    outputs: transaction.outputs.map(toOutputMessage),
    lockTime: transaction.lockTime,
    subnetworkId: toHex(transaction.subnetworkId),
    gas: transaction.gas,
    payload: toHex(transaction.payload),
    storageMass: transaction.storageMass,
  } satisfies MessageInitShape<typeof TransactionSchema>;
}

function toInputMessage(input: TransactionInput) {
  return {
    previousOutpoint: toOutpointMessage(input.previousOutpoint),
    signatureScript: toHex(input.signatureScript),
    sequence: input.sequence,
    sigOpCount: input.sigOpCount,
    computeBudget: input.computeBudget,
  } satisfies MessageInitShape<typeof TransactionInputSchema>;
}

export function toOutputMessage({ amount, scriptPublicKey, covenant }: TransactionOutput) {
  return {
    amount,
    scriptPublicKey: toScriptMessage(scriptPublicKey),
    ...(covenant && {
      covenant: { authorizingInput: covenant.authorizingInput, covenantId: toHex(covenant.covenantId) },
    }),
  } satisfies MessageInitShape<typeof TransactionOutputSchema>;
}

export function toOutpointMessage({ transactionId, index }: Outpoint) {
  return { transactionId: toHex(transactionId), index } satisfies MessageInitShape<typeof OutpointSchema>;
}

export function toScriptMessage({ version, script }: ScriptPublicKey) {
  return { version, scriptPublicKey: toHex(script) } satisfies MessageInitShape<typeof ScriptPublicKeySchema>;
}
