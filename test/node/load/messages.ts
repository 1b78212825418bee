/**
 * Between the model and the node's messages, both ways and by the plain generated code: the hot decoder of `@kasgres/node` is part of
 * what these tests are about, so nothing here leans on it.
 */
import { fromHex, parseBlueWork, toHex, type Header, type Transaction } from '@kasgres/kaspa';
import type { protocol, RequestOf } from '@kasgres/node';

export type BlockMessage = NonNullable<RequestOf<'submitBlock'>['block']>;
export type TransactionMessage = NonNullable<RequestOf<'submitTransaction'>['transaction']>;

export function toTransactionMessage(transaction: Transaction): TransactionMessage {
  return {
    version: transaction.version,
    inputs: transaction.inputs.map((input) => ({
      previousOutpoint: {
        transactionId: toHex(input.previousOutpoint.transactionId),
        index: input.previousOutpoint.index,
      },
      signatureScript: toHex(input.signatureScript),
      sequence: input.sequence,
      sigOpCount: input.sigOpCount,
      computeBudget: input.computeBudget,
    })),
    outputs: transaction.outputs.map(({ amount, scriptPublicKey, covenant }) => ({
      amount,
      scriptPublicKey: { version: scriptPublicKey.version, scriptPublicKey: toHex(scriptPublicKey.script) },
      ...(covenant && {
        covenant: { authorizingInput: covenant.authorizingInput, covenantId: toHex(covenant.covenantId) },
      }),
    })),
    lockTime: transaction.lockTime,
    subnetworkId: toHex(transaction.subnetworkId),
    gas: transaction.gas,
    payload: toHex(transaction.payload),
    storageMass: transaction.storageMass,
  };
}

export function toTransaction(message: protocol.Transaction): Transaction {
  return {
    version: message.version,
    inputs: message.inputs.map((input) => ({
      previousOutpoint: {
        transactionId: fromHex(input.previousOutpoint?.transactionId ?? ''),
        index: input.previousOutpoint?.index ?? 0,
      },
      signatureScript: fromHex(input.signatureScript),
      sequence: input.sequence,
      sigOpCount: input.sigOpCount,
      computeBudget: input.computeBudget,
    })),
    outputs: message.outputs.map(({ amount, scriptPublicKey, covenant }) => ({
      amount,
      scriptPublicKey: {
        version: scriptPublicKey?.version ?? 0,
        script: fromHex(scriptPublicKey?.scriptPublicKey ?? ''),
      },
      covenant: covenant && { authorizingInput: covenant.authorizingInput, covenantId: fromHex(covenant.covenantId) },
    })),
    lockTime: message.lockTime,
    subnetworkId: fromHex(message.subnetworkId),
    gas: message.gas,
    payload: fromHex(message.payload),
    storageMass: message.storageMass,
  };
}

export function toHeader(message: protocol.Header): Header {
  return {
    version: message.version,
    parentsByLevel: message.parents.map(({ parentHashes }) => parentHashes.map(fromHex)),
    hashMerkleRoot: fromHex(message.hashMerkleRoot),
    acceptedIdMerkleRoot: fromHex(message.acceptedIdMerkleRoot),
    utxoCommitment: fromHex(message.utxoCommitment),
    timestamp: message.timestamp,
    bits: message.bits,
    nonce: message.nonce,
    daaScore: message.daaScore,
    blueWork: parseBlueWork(message.blueWork),
    blueScore: message.blueScore,
    pruningPoint: fromHex(message.pruningPoint),
  };
}
