/** From the node's message to a mempool entry, as the endpoints under /v1/rpc show it. */
import type { ScriptType } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { required } from '../../node-messages.ts';
import type { TransactionInputJson, TransactionJson, TransactionOutputJson } from '../../schemas/transaction.ts';
import { hasComputeBudgets, toPayload, toScriptPublicKey } from '../transactions/to-transaction.ts';
import type { MempoolEntryJson } from './schemas.ts';

export function toMempoolEntry(entry: protocol.MempoolEntry): MempoolEntryJson {
  return {
    fee: String(entry.fee),
    transaction: toTransaction(required(entry.transaction, 'transaction')),
    isOrphan: entry.isOrphan,
  };
}

function toTransaction(transaction: protocol.Transaction): TransactionJson {
  const verboseData = required(transaction.verboseData, 'verbose data of a transaction');
  const hasBudgets = hasComputeBudgets(transaction);
  return {
    version: transaction.version,
    inputs: transaction.inputs.map((input) => toInput(input, hasBudgets)),
    outputs: transaction.outputs.map(toOutput),
    lockTime: String(transaction.lockTime),
    subnetworkId: transaction.subnetworkId,
    gas: String(transaction.gas),
    payload: toPayload(transaction.payload),
    mass: String(transaction.storageMass),
    verboseData: {
      transactionId: verboseData.transactionId,
      hash: verboseData.hash,
      computeMass: String(verboseData.computeMass),
      blockHash: verboseData.blockHash,
      blockTime: String(verboseData.blockTime),
    },
  };
}

function toInput(input: protocol.TransactionInput, hasBudget: boolean): TransactionInputJson {
  const { transactionId, index } = required(input.previousOutpoint, 'outpoint of an input');
  return {
    previousOutpoint: { transactionId, index },
    sequence: String(input.sequence),
    sigOpCount: input.sigOpCount,
    signatureScript: input.signatureScript,
    ...(hasBudget && { computeBudget: input.computeBudget }),
  };
}

function toOutput(output: protocol.TransactionOutput): TransactionOutputJson {
  const { version, scriptPublicKey } = required(output.scriptPublicKey, 'script of an output');
  const { verboseData, covenant } = output;
  return {
    value: String(output.amount),
    scriptPublicKey: toScriptPublicKey(version, scriptPublicKey),
    ...(verboseData && {
      verboseData: {
        scriptPublicKeyType: verboseData.scriptPublicKeyType as ScriptType,
        scriptPublicKeyAddress: verboseData.scriptPublicKeyAddress,
      },
    }),
    ...(covenant && {
      covenant: { authorizingInput: covenant.authorizingInput, covenantId: covenant.covenantId },
    }),
  };
}
