/** An input and the UTXO it spends, as far as that was ever seen. */
import type { RpcTransaction } from '@kasgres/node';
import type { Memory } from '../memory/memory.ts';
import type { LookedUp } from '../memory/look-up.ts';
import type { Move } from '../rollups/chain-block-totals.ts';

export interface Utxo {
  amount: bigint;
  script: number;
}

export interface ResolvedInput {
  /** Key of the transaction that made the UTXO; undefined while that was never seen. */
  transaction: number | undefined;
  /** Undefined while the transaction was never seen, or when it has no such output. */
  utxo: Utxo | undefined;
}

export function resolveInputs(transaction: RpcTransaction, memory: Memory, lookedUp: LookedUp): ResolvedInput[] {
  return transaction.inputs.map(({ previousOutpoint }) => {
    const key = memory.transactions.get(previousOutpoint.transactionId);
    if (key === undefined) return { transaction: undefined, utxo: undefined };
    const { index } = previousOutpoint;
    return { transaction: key, utxo: memory.utxos.findOutput(key, index) ?? lookedUp.findUtxo(key, index) };
  });
}

/** Inputs minus outputs; 0 for a coinbase, null while a UTXO is not known. */
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

/** What a transaction does to each script that it touches, as far as its UTXOs are known. @param outputScripts one for each output */
export function movesOf(
  transaction: RpcTransaction,
  inputs: readonly ResolvedInput[],
  outputScripts: readonly number[],
): Map<number, Move> {
  const moves = new Map<number, Move>();
  const moveOf = (script: number): Move => {
    let move = moves.get(script);
    if (move === undefined) {
      move = { sent: 0n, received: 0n };
      moves.set(script, move);
    }
    return move;
  };
  for (const { utxo } of inputs) if (utxo !== undefined) moveOf(utxo.script).sent += utxo.amount;
  outputScripts.forEach((script, index) => {
    moveOf(script).received += (transaction.outputs[index] as RpcTransaction['outputs'][number]).amount;
  });
  return moves;
}
