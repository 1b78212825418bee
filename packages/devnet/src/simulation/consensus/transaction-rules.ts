/**
 * Checks whether a transaction may be accepted, given the UTXO set and the DAA score of the accepting block. Scripts are not executed: the caller
 * decides whether signatures are valid. Covenants are not checked.
 * Messages are kaspad's (rusty-kaspa, consensus/core/src/errors/tx.rs).
 */
import { type Outpoint, type Transaction, toHex, type TransactionInput } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { outpointKey, type UtxoEntry } from '../../economy/utxo.ts';

export interface TransactionRules {
  coinbaseMaturity: number;
  hasValidSignatures: (transaction: DagTransaction) => boolean;
}

export interface UtxoLookup {
  find: (key: string) => UtxoEntry | undefined;
}

export type TransactionCheck =
  | { kind: 'valid'; fee: bigint; spent: UtxoEntry[] }
  | { kind: 'missing-inputs' }
  | { kind: 'refused'; reason: string };

/** This bit disables the relative lock of an input's sequence. */
const SEQUENCE_LOCK_DISABLED = 1n << 63n;
const SEQUENCE_LOCK_MASK = 0xffff_ffffn;

/** Checks a transaction that is no coinbase against a state; changes nothing. */
export function checkTransaction(
  transaction: DagTransaction,
  utxos: UtxoLookup,
  daaScore: number,
  rules: TransactionRules,
): TransactionCheck {
  const spent: UtxoEntry[] = [];
  for (const input of transaction.inputs) {
    const entry = utxos.find(outpointKey(input.previousOutpoint));
    if (entry === undefined) return { kind: 'missing-inputs' };
    spent.push(entry);
  }
  const reason = refusal(transaction, spent, daaScore, rules);
  if (reason !== undefined) return { kind: 'refused', reason };
  return { kind: 'valid', fee: sumAmounts(spent) - sumAmounts(transaction.outputs), spent };
}

function refusal(
  transaction: DagTransaction,
  spent: readonly UtxoEntry[],
  daaScore: number,
  rules: TransactionRules,
): string | undefined {
  const immature = spent.findIndex((entry) => isImmature(entry, daaScore, rules));
  if (immature >= 0) return immatureReason(transaction, spent, immature, daaScore, rules);
  const [totalIn, totalOut] = [sumAmounts(spent), sumAmounts(transaction.outputs)];
  if (totalIn < totalOut) {
    return `transaction tries to spend ${totalOut} while its total inputs amount is ${totalIn}`;
  }
  if (transaction.inputs.some((input, index) => isLocked(input, spent[index], daaScore))) {
    return 'one of the transaction sequence locks conditions was not met';
  }
  if (!rules.hasValidSignatures(transaction)) {
    return 'failed to verify the signature script: false stack entry at end of script execution';
  }
  return undefined;
}

function isImmature(entry: UtxoEntry, daaScore: number, rules: TransactionRules): boolean {
  return entry.isCoinbase && Number(entry.blockDaaScore) + rules.coinbaseMaturity > daaScore;
}

function immatureReason(
  { inputs }: Transaction,
  spent: readonly UtxoEntry[],
  index: number,
  daaScore: number,
  { coinbaseMaturity }: TransactionRules,
): string {
  const outpoint = inputs[index]?.previousOutpoint;
  return (
    `one of the transaction inputs spends an immature UTXO: transaction input #${index} tried to spend coinbase outpoint ` +
    `${outpoint === undefined ? '' : describeOutpoint(outpoint)} with daa score of ${spent[index]?.blockDaaScore}\n` +
    `    while the merging block daa score is ${daaScore} and the coinbase maturity period of ${coinbaseMaturity} hasn't passed yet`
  );
}

/** Formats an outpoint as kaspad does. */
export function describeOutpoint({ transactionId, index }: Outpoint): string {
  return `(${toHex(transactionId)}, ${index})`;
}

function isLocked({ sequence }: TransactionInput, entry: UtxoEntry | undefined, daaScore: number): boolean {
  if (sequence === 0n || (sequence & SEQUENCE_LOCK_DISABLED) !== 0n || entry === undefined) return false;
  return entry.blockDaaScore + (sequence & SEQUENCE_LOCK_MASK) - 1n >= BigInt(daaScore);
}

function sumAmounts(of: readonly { amount: bigint }[]): bigint {
  let sum = 0n;
  for (const { amount } of of) sum += amount;
  return sum;
}
