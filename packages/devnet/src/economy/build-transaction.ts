/** Builds transactions out of UTXOs and outputs, with every field as a wallet would fill it. */
import {
  type Covenant,
  NATIVE_SUBNETWORK,
  type ScriptPublicKey,
  type Transaction,
  type TransactionInput,
  transactionId,
} from '@kasgres/kaspa';
import type { UtxoEntry } from './utxo.ts';
import { requiredStorageMass } from '../simulation/node/mempool-rules.ts';
import { signatureScript } from './signatures.ts';

export interface Draft {
  version: number;
  /** What is spent, each with what its signature script needs beside a signature, and what that signs where it is not everything. */
  utxos: readonly { entry: UtxoEntry; redeemScript: Uint8Array | undefined; hashType?: number }[];
  outputs: readonly { amount: number; scriptPublicKey: ScriptPublicKey; covenant?: Covenant }[];
  payload: Uint8Array;
}

/** Enough for one signature, in version 1. */
const COMPUTE_BUDGET = 12;

export function buildTransaction({ version, utxos, outputs, payload }: Draft): Transaction {
  const unsigned: Transaction = {
    version,
    inputs: utxos.map(({ entry }) => unsignedInput(entry, version)),
    outputs: outputs.map(({ amount, scriptPublicKey, covenant }) => {
      return { amount: BigInt(amount), scriptPublicKey, covenant };
    }),
    lockTime: 0n,
    subnetworkId: NATIVE_SUBNETWORK,
    gas: 0n,
    payload,
    storageMass: 0n,
  };
  const id = transactionId(unsigned);
  return {
    ...unsigned,
    inputs: unsigned.inputs.map((input, index) => {
      const utxo = utxos[index];
      return { ...input, signatureScript: signatureScript(id, index, utxo?.redeemScript, utxo?.hashType) };
    }),
    storageMass: requiredStorageMass(
      unsigned,
      utxos.map(({ entry }) => entry),
    ),
  };
}

/**
 * A fee in sompi that any node relays a transaction of this size for.
 * @param outputs their number
 */
export function leastFee({ utxos, outputs, payload }: { utxos: number; outputs: number; payload: number }): number {
  const mass = 250 + 1_360 * utxos + 460 * outputs + 2 * payload;
  return 100 * mass;
}

function unsignedInput({ outpoint }: UtxoEntry, version: number): TransactionInput {
  return {
    previousOutpoint: outpoint,
    signatureScript: new Uint8Array(0),
    sequence: 0n,
    sigOpCount: version === 0 ? 1 : 0,
    computeBudget: version === 0 ? 0 : COMPUTE_BUDGET,
  };
}
