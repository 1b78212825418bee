import type { ScriptKey, TransactionKey } from '@kasgres/database';
import { MAX_SOMPI, type Sompi } from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import { getOrInsert, type ScriptDelta } from '@kasgres/state';
import type { LookedUp } from '../memory/look-up.ts';
import type { Memory } from '../memory/memory.ts';

export interface ResolvedInput {
  /** Key of the transaction that creates the UTXO; undefined if it is not indexed yet. */
  transaction: TransactionKey | undefined;
  /** Also undefined if the transaction has no such output. */
  utxo: { amount: Sompi; script: ScriptKey } | undefined;
}

export function resolveInputs(transaction: RpcTransaction, memory: Memory, lookedUp: LookedUp): ResolvedInput[] {
  return transaction.inputs.map(({ previousOutpoint: { transactionId, index } }) => {
    const key = memory.transactions.get(transactionId);
    if (key === undefined) return { transaction: undefined, utxo: undefined };
    return { transaction: key, utxo: memory.utxos.findOutput(key, index) ?? lookedUp.utxos.get(key)?.get(index) };
  });
}

/**
 * Returns inputs minus outputs; 0 for a coinbase, null while a UTXO is unknown. Also null if the
 * fee is negative or above the maximum supply: outputs that nobody accepted may have any amount,
 * and such a transaction is never accepted.
 */
export function feeOf(transaction: RpcTransaction, inputs: ResolvedInput[], isCoinbase: boolean): bigint | null {
  if (isCoinbase) return 0n;
  let fee = 0n;
  for (const { utxo } of inputs) {
    if (utxo === undefined) return null;
    fee += utxo.amount;
  }
  for (const { amount } of transaction.outputs) fee -= amount;
  return fee >= 0n && fee <= MAX_SOMPI ? fee : null;
}

/**
 * Returns the scripts that a transaction touches, as far as its UTXOs are known.
 * @param outputScripts one for each output
 */
export function scriptsOf(inputs: readonly ResolvedInput[], outputScripts: readonly ScriptKey[]): Set<ScriptKey> {
  const scripts = new Set(outputScripts);
  for (const { utxo } of inputs) if (utxo !== undefined) scripts.add(utxo.script);
  return scripts;
}

const createDelta = (): ScriptDelta => ({ sent: 0n, received: 0n, utxoCount: 0 });

/**
 * Returns the delta of each script that a transaction touches, as far as its UTXOs are known.
 * @param outputScripts one for each output
 */
export function deltasOf(
  transaction: RpcTransaction,
  inputs: readonly ResolvedInput[],
  outputScripts: readonly ScriptKey[],
): Map<ScriptKey, ScriptDelta> {
  const deltas = new Map<ScriptKey, ScriptDelta>();
  const deltaOf = (script: ScriptKey): ScriptDelta => getOrInsert(deltas, script, createDelta);
  for (const { utxo } of inputs) {
    if (utxo === undefined) continue;
    const delta = deltaOf(utxo.script);
    delta.sent += utxo.amount;
    delta.utxoCount -= 1;
  }
  for (const [index, { amount }] of transaction.outputs.entries()) {
    const delta = deltaOf(outputScripts[index] as ScriptKey);
    delta.received += amount;
    delta.utxoCount += 1;
  }
  return deltas;
}
