import type { RpcTransaction } from '@kasgres/node';
import type { ScriptDelta } from '@kasgres/state';
import type { Memory } from '../memory/memory.ts';
import type { LookedUp } from '../memory/look-up.ts';

/** An input and the UTXO that it spends. */
export interface ResolvedInput {
  /** Key of the transaction that creates the UTXO; undefined while that was never seen. */
  transaction: number | undefined;
  /** Undefined while the transaction was never seen, or when it has no such output. */
  utxo: { amount: bigint; script: number } | undefined;
}

export function resolveInputs(transaction: RpcTransaction, memory: Memory, lookedUp: LookedUp): ResolvedInput[] {
  return transaction.inputs.map(({ previousOutpoint }) => {
    const key = memory.transactions.get(previousOutpoint.transactionId);
    if (key === undefined) return { transaction: undefined, utxo: undefined };
    const { index } = previousOutpoint;
    return { transaction: key, utxo: memory.utxos.findOutput(key, index) ?? lookedUp.findUtxo(key, index) };
  });
}

/** Returns inputs minus outputs; 0 for a coinbase, null while a UTXO is unknown. */
export function feeOf(transaction: RpcTransaction, inputs: ResolvedInput[], isCoinbase: boolean): bigint | null {
  if (isCoinbase) return 0n;
  let fee = 0n;
  for (const { utxo } of inputs) {
    if (utxo === undefined) return null;
    fee += utxo.amount;
  }
  for (const { amount } of transaction.outputs) fee -= amount;
  return fee;
}

/** Returns what a transaction does to each script that it touches, as far as its UTXOs are known. @param outputScripts one for each output */
export function deltasOf(
  transaction: RpcTransaction,
  inputs: readonly ResolvedInput[],
  outputScripts: readonly number[],
): Map<number, ScriptDelta> {
  const deltas = new Map<number, ScriptDelta>();
  const deltaOf = (script: number): ScriptDelta => {
    let delta = deltas.get(script);
    if (delta === undefined) {
      delta = { sent: 0n, received: 0n, utxoCount: 0 };
      deltas.set(script, delta);
    }
    return delta;
  };
  for (const { utxo } of inputs) {
    if (utxo === undefined) continue;
    const delta = deltaOf(utxo.script);
    delta.sent += utxo.amount;
    delta.utxoCount -= 1;
  }
  outputScripts.forEach((script, index) => {
    const delta = deltaOf(script);
    delta.received += (transaction.outputs[index] as RpcTransaction['outputs'][number]).amount;
    delta.utxoCount += 1;
  });
  return deltas;
}
