/** Building blocks of hostile transactions. */
import {
  MAX_SOMPI,
  NATIVE_SUBNETWORK,
  type Outpoint,
  type ScriptPublicKey,
  type Transaction,
  type TransactionOutput,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';
import { requiredStorageMass, withDerived } from './build-transaction.ts';
import type { Random } from './random.ts';
import type { UtxoEntry } from './utxo.ts';

/**
 * The contents of blocks, without their coinbases. They may be mined in any order, also as
 * siblings.
 */
export type Plan = readonly (readonly DagTransaction[])[];

export interface HostileSize {
  /** Transactions of a block. */
  transactions: number;
  /** Inputs of a transaction. */
  inputs: number;
  /** Blocks of a plan. */
  blocks: number;
}

const MAX_UINT32 = 2 ** 32 - 1;
export const ANYONES_SCRIPT: ScriptPublicKey = { version: 0, script: Uint8Array.of(0x51) };

/** Spends an output that anybody may spend for another one, with the storage mass that it needs. */
export function plain(
  spent: UtxoEntry,
  amount: bigint,
  payload?: Uint8Array,
  change: Partial<Transaction> = {},
): DagTransaction {
  const transaction = { ...bare([spent.outpoint], [amount], payload), ...change };
  return withDerived({ ...transaction, storageMass: requiredStorageMass(transaction, [spent]) });
}

/** Returns a transaction of the least mass, whose outputs anybody may spend. */
export function bare(spent: readonly Outpoint[], amounts: readonly bigint[], payload?: Uint8Array): DagTransaction {
  return unsigned(
    spent,
    amounts.map((amount) => ({ amount, scriptPublicKey: ANYONES_SCRIPT })),
    payload,
  );
}

/** Returns a transaction without signatures, and without a budget for any. */
export function unsigned(
  spent: readonly Outpoint[],
  outputs: readonly Pick<TransactionOutput, 'amount' | 'scriptPublicKey'>[],
  payload: Uint8Array = new Uint8Array(0),
): DagTransaction {
  return withDerived({
    version: 0,
    inputs: spent.map((previousOutpoint) => ({
      previousOutpoint,
      signatureScript: new Uint8Array(0),
      sequence: 0n,
      sigOpCount: 0,
      computeBudget: 0,
    })),
    outputs: outputs.map((output) => ({ ...output, covenant: undefined })),
    lockTime: 0n,
    subnetworkId: NATIVE_SUBNETWORK,
    gas: 0n,
    payload,
    storageMass: 0n,
  });
}

export function withInput(transaction: DagTransaction, change: Partial<Transaction['inputs'][number]>): DagTransaction {
  return withDerived({ ...transaction, inputs: transaction.inputs.map((input) => ({ ...input, ...change })) });
}

export function nowhere(random: Random): Outpoint {
  return { transactionId: random.bytes(32), index: random.pick([0, 0, 1, 2 ** 31, MAX_UINT32]) };
}

export function firstOutput({ transactionId }: Pick<DagTransaction, 'transactionId'>): Outpoint {
  return { transactionId, index: 0 };
}

/** Returns amounts that add up to at most the maximum supply. */
export function someAmounts(random: Random): bigint[] {
  const count = random.pick([0, 1, 1, 2, 3]);
  const limit = MAX_SOMPI / BigInt(Math.max(1, count));
  return times(count, () => random.pick([1n, 1_000_000_000n, limit, 1n + (random.uint64() % limit)]));
}

/**
 * Namespaces that look like other subnetworks: of zeros and of the greatest bytes, and those of the
 * protocol with one bit more.
 */
const ODD_NAMESPACES: readonly (readonly number[])[] = [
  [0, 0, 0, 1],
  [1, 0, 0, 1],
  [0xff, 0xff, 0xff, 0xff],
  [0x80, 0, 0, 0x80],
  [0x27, 0x3b, 0x2d, 0x2d],
];

/** Returns the subnetwork id of a lane. */
export function laneOf(random: Random): Uint8Array {
  const id = new Uint8Array(NATIVE_SUBNETWORK.length);
  // The second byte is not zero, so that it is no subnetwork of the protocol.
  const any = [random.below(256), random.between(1, 255), random.below(256), random.below(256)];
  id.set(random.chance(0.3) ? random.pick(ODD_NAMESPACES) : any);
  return id;
}

export function times<T>(count: number, make: (_: undefined, index: number) => T): T[] {
  return Array.from({ length: count }, make);
}

export function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}
