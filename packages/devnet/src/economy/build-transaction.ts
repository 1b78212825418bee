import {
  computeMass,
  type Covenant,
  covenantId,
  type Hash,
  NATIVE_SUBNETWORK,
  type ScriptPublicKey,
  storageMass,
  type Transaction,
  transactionHash,
  transactionId,
  transientMass,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';
import { signatureScript } from './signatures.ts';
import type { UtxoEntry } from './utxo.ts';

export interface DraftInput {
  entry: UtxoEntry;
  /** The program of a UTXO that was paid to a script hash. */
  redeemScript: Uint8Array | undefined;
  /** The pushes of the signature script between the signature and the program. */
  arguments?: readonly Uint8Array[];
  /** "All" by default. */
  hashType?: number;
}

export interface Draft {
  version: number;
  utxos: DraftInput[];
  outputs: { amount: number; scriptPublicKey: ScriptPublicKey; covenant?: Covenant }[];
  payload: Uint8Array;
  lockTime?: bigint;
  sequence?: bigint;
  subnetworkId?: Uint8Array;
  gas?: bigint;
}

/** Enough for one signature, in version 1. */
const COMPUTE_BUDGET = 12;

export function buildTransaction(draft: Draft): Transaction {
  const { version, utxos, outputs, payload } = draft;
  const unsigned: Transaction = {
    version,
    inputs: utxos.map(({ entry }) => ({
      previousOutpoint: entry.outpoint,
      signatureScript: new Uint8Array(0),
      sequence: draft.sequence ?? 0n,
      sigOpCount: version === 0 ? 1 : 0,
      computeBudget: version === 0 ? 0 : COMPUTE_BUDGET,
    })),
    outputs: outputs.map(({ amount, scriptPublicKey, covenant }) => {
      return { amount: BigInt(amount), scriptPublicKey, covenant };
    }),
    lockTime: draft.lockTime ?? 0n,
    subnetworkId: draft.subnetworkId ?? NATIVE_SUBNETWORK,
    gas: draft.gas ?? 0n,
    payload,
    storageMass: 0n,
  };
  const id = transactionId(unsigned);
  return {
    ...unsigned,
    inputs: unsigned.inputs.map((input, index) => {
      const utxo = utxos[index];
      return {
        ...input,
        signatureScript: signatureScript(id, index, utxo === undefined ? [] : pushesOf(utxo), utxo?.hashType),
      };
    }),
    storageMass: requiredStorageMass(
      unsigned,
      utxos.map(({ entry }) => entry),
    ),
  };
}

/** Returns what follows the signature. */
export function pushesOf({ arguments: values = [], redeemScript }: DraftInput): readonly Uint8Array[] {
  return redeemScript === undefined ? values : [...values, redeemScript];
}

/**
 * Returns the id of the covenant that a UTXO founds for these outputs, which are in ascending
 * order.
 */
export function foundedBy(
  { outpoint }: Pick<UtxoEntry, 'outpoint'>,
  outputs: readonly (readonly [index: number, { amount: number | bigint; scriptPublicKey: ScriptPublicKey }])[],
): Hash {
  return covenantId(
    outpoint,
    outputs.map(([index, { amount, scriptPublicKey }]) => [index, { amount: BigInt(amount), scriptPublicKey }]),
  );
}

/**
 * Returns a fee in sompi for which any node relays a transaction with these numbers of inputs,
 * outputs and payload bytes.
 */
export function leastFee({ utxos, outputs, payload }: { utxos: number; outputs: number; payload: number }): number {
  const mass = 250 + 1_360 * utxos + 460 * outputs + 2 * payload;
  return 100 * mass;
}

export function requiredStorageMass(transaction: Transaction, spent: readonly UtxoEntry[]): bigint {
  const utxos = spent.map(({ amount, scriptPublicKey, covenantId }) => ({
    amount,
    scriptPublicKey,
    covenant: covenantId === undefined ? undefined : { authorizingInput: 0, covenantId },
  }));
  return storageMass(utxos, transaction.outputs);
}

export function withDerived(transaction: Transaction): DagTransaction {
  return {
    ...transaction,
    transactionId: transactionId(transaction),
    hash: transactionHash(transaction),
    computeMass: computeMass(transaction),
  };
}

/** The remaining capacity of a block. */
export class MassBudget {
  private compute = 500_000n;
  private storage = 500_000n;
  private transient = 1_000_000n;

  hasRoomFor(transaction: DagTransaction): boolean {
    return (
      transaction.computeMass <= this.compute &&
      transaction.storageMass <= this.storage &&
      transientMass(transaction) <= this.transient
    );
  }

  /** Reserves the masses of a transaction. Returns false if they do not fit. */
  take(transaction: DagTransaction): boolean {
    if (!this.hasRoomFor(transaction)) return false;
    this.compute -= transaction.computeMass;
    this.storage -= transaction.storageMass;
    this.transient -= transientMass(transaction);
    return true;
  }
}
