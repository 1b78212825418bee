/** Converts the node's messages to mempool entries in the form of the endpoints under /v1/rpc. */
import type { ScriptType } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import {
  hasComputeBudgets,
  sompi,
  toPayload,
  toScriptPublicKey,
  transaction,
  type TransactionInputJson,
  type TransactionJson,
  type TransactionOutputJson,
} from '@kasgres/reads';
import { z } from 'zod';
import { required, toJson } from '../../node/node-calls.ts';

export const mempoolEntry = z
  .object({
    fee: sompi,
    transaction,
    isOrphan: z.boolean().meta({ description: 'Whether it spends a UTXO that is not known yet' }),
  })
  .meta({ id: 'MempoolEntry' });

export function toMempoolEntry(entry: protocol.MempoolEntry): z.infer<typeof mempoolEntry> {
  return {
    fee: String(entry.fee),
    transaction: toTransaction(required(entry.transaction, 'transaction')),
    isOrphan: entry.isOrphan,
  };
}

function toTransaction(message: protocol.Transaction): TransactionJson {
  const verboseData = required(message.verboseData, 'verbose data of a transaction');
  const hasBudgets = hasComputeBudgets(message);
  return {
    version: message.version,
    inputs: message.inputs.map((input) => toInput(input, hasBudgets)),
    outputs: message.outputs.map(toOutput),
    lockTime: String(message.lockTime),
    subnetworkId: message.subnetworkId,
    gas: String(message.gas),
    payload: toPayload(message.payload),
    mass: String(message.storageMass),
    verboseData: toJson(transaction.shape.verboseData, verboseData),
  };
}

export function toInput(input: protocol.TransactionInput, hasBudget: boolean): TransactionInputJson {
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
    ...toCovenant(covenant),
  };
}

export const toCovenant = (covenant: protocol.TransactionOutput['covenant']) =>
  covenant && { covenant: { authorizingInput: covenant.authorizingInput, covenantId: covenant.covenantId } };
