/**
 * The rules for payments. Scripts are not run. Source of the messages: rusty-kaspa,
 * consensus/core/src/errors/tx.rs.
 */
import { checkCovenants, type CovenantError, type Outpoint, toHex } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { requiredStorageMass } from '../../economy/build-transaction.ts';
import { spentKeysOf, type UtxoEntry, type UtxoLookup } from '../../economy/utxo.ts';

export interface TransactionRules {
  coinbaseMaturity: number;
  hasValidScripts: (transaction: DagTransaction, spent: readonly UtxoEntry[]) => boolean;
  /** False for transactions that were recorded without their storage mass. */
  checksStorageMass: boolean;
}

export type TransactionCheck =
  | { kind: 'valid'; fee: bigint; spent: UtxoEntry[] }
  | { kind: 'missing-inputs' }
  | { kind: 'refused'; reason: string };

const SEQUENCE_LOCK_DISABLED = 1n << 63n;
const SEQUENCE_LOCK_MASK = 0xffff_ffffn;

/**
 * Checks a transaction of a block, which commits to its storage mass.
 * @param daaScore of the accepting block
 */
export function checkMinedTransaction(
  transaction: DagTransaction,
  utxos: UtxoLookup,
  daaScore: number,
  rules: TransactionRules,
): TransactionCheck {
  const check = checkTransaction(transaction, utxos, daaScore, rules);
  if (check.kind !== 'valid' || !rules.checksStorageMass) return check;
  const expected = requiredStorageMass(transaction, check.spent);
  if (transaction.storageMass === expected) return check;
  return refuse(`expected storage mass ${expected} but got ${transaction.storageMass}`);
}

/** Like `checkMinedTransaction`, but of a transaction whose storage mass the node sets. */
export function checkTransaction(
  transaction: DagTransaction,
  utxos: UtxoLookup,
  daaScore: number,
  rules: TransactionRules,
): TransactionCheck {
  const spent: UtxoEntry[] = [];
  for (const key of spentKeysOf(transaction)) {
    const entry = utxos.find(key);
    if (entry === undefined) return { kind: 'missing-inputs' };
    spent.push(entry);
  }
  const immature = spent.findIndex((entry) => isImmature(entry, daaScore, rules));
  const [totalIn, totalOut] = [sumAmounts(spent), sumAmounts(transaction.outputs)];
  if (immature >= 0) return refuse(immatureReason(spent[immature], immature, daaScore, rules));
  if (totalIn < totalOut) {
    return refuse(`transaction tries to spend ${totalOut} while its total inputs amount is ${totalIn}`);
  }
  if (transaction.inputs.some(({ sequence }, index) => isLocked(sequence, spent[index], daaScore))) {
    return refuse('one of the transaction sequence locks conditions was not met');
  }
  const covenantError = checkCovenants(
    transaction,
    spent.map(({ covenantId }) => covenantId),
  );
  if (covenantError !== undefined) return refuse(`covenants error: ${describeCovenantError(covenantError)}`);
  if (!rules.hasValidScripts(transaction, spent)) {
    return refuse('failed to verify the signature script: false stack entry at end of script execution');
  }
  return { kind: 'valid', fee: totalIn - totalOut, spent };
}

function describeCovenantError(error: CovenantError): string {
  return error.kind === 'wrong-genesis-id'
    ? `input #${error.authorizingInput} and outputs with covenant id ${toHex(error.covenantId)} do not correspond to the expected genesis hashing`
    : `output #${error.output} covenant authorizing input index ${error.authorizingInput} is out of bounds`;
}

function refuse(reason: string): TransactionCheck {
  return { kind: 'refused', reason };
}

export function isImmature(
  entry: UtxoEntry,
  daaScore: number,
  { coinbaseMaturity }: Pick<TransactionRules, 'coinbaseMaturity'>,
): boolean {
  return entry.isCoinbase && Number(entry.blockDaaScore) + coinbaseMaturity > daaScore;
}

function immatureReason(
  entry: UtxoEntry | undefined,
  index: number,
  daaScore: number,
  { coinbaseMaturity }: TransactionRules,
): string {
  return (
    `one of the transaction inputs spends an immature UTXO: transaction input #${index} tried to spend coinbase outpoint ` +
    `${entry && describeOutpoint(entry.outpoint)} with daa score of ${entry?.blockDaaScore}\n` +
    `    while the merging block daa score is ${daaScore} and the coinbase maturity period of ${coinbaseMaturity} hasn't passed yet`
  );
}

/** Formats an outpoint as kaspad does. */
export function describeOutpoint({ transactionId, index }: Outpoint): string {
  return `(${toHex(transactionId)}, ${index})`;
}

function isLocked(sequence: bigint, entry: UtxoEntry | undefined, daaScore: number): boolean {
  if (sequence === 0n || (sequence & SEQUENCE_LOCK_DISABLED) !== 0n || entry === undefined) return false;
  return entry.blockDaaScore + (sequence & SEQUENCE_LOCK_MASK) - 1n >= BigInt(daaScore);
}

function sumAmounts(of: readonly { amount: bigint }[]): bigint {
  return of.reduce((sum, { amount }) => sum + amount, 0n);
}
