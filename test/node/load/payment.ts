/** Signed transactions of the load, with their masses and the UTXOs that they create. */
import { outpointKey, type UtxoEntry } from '@kasgres/devnet';
import {
  computeMass,
  type Covenant,
  type Hash,
  type Outpoint,
  NATIVE_SUBNETWORK,
  storageMass,
  type Transaction,
  transactionHash,
  transactionId,
  type TransactionOutput,
  transientMass,
} from '@kasgres/kaspa';
import { blake2b } from '@noble/hashes/blake2.js';
import type { Owner } from './owner.ts';
import { signingHashes, uint16, uint32, uint64 } from './signing-hash.ts';

export interface Payout {
  amount: bigint;
  owner: Owner;
  covenant?: Covenant;
}

/** A transaction output with its owner. */
export interface Utxo {
  entry: UtxoEntry;
  outpoint: Outpoint;
  output: TransactionOutput;
  owner: Owner;
}

/** Whether it has an address, demands a signature, and carries no covenant. */
export function isStandard({ owner, output }: Utxo): boolean {
  return owner.sigOps > 0 && output.covenant === undefined;
}

/** The fields of a transaction; omitted ones are empty. The fee is the amount that is not paid out. */
export interface Plan {
  version?: 0 | 1;
  utxos: Utxo[];
  payouts: Payout[];
  payload?: Uint8Array;
  lockTime?: bigint;
  subnetworkId?: Uint8Array;
  gas?: bigint;
  sequence?: bigint;
  /** Compute budget of each signed input of a version 1 transaction. The id leaves it out. */
  computeBudget?: number;
  /** Breaks the first signature: the transaction keeps its id and is invalid. */
  broken?: boolean;
}

export interface Payment {
  id: Hash;
  hash: Hash;
  transaction: Transaction;
  /** Signing it again gives another variant: the same id with other signatures. */
  plan: Plan;
  /** The UTXOs that its acceptance creates. */
  makes: Utxo[];
  mass: Mass;
}

/** Grams, in the three dimensions that a block limits. */
export interface Mass {
  compute: bigint;
  storage: bigint;
  transient: bigint;
}

/** Enough for a signature under a script hash. */
const COMPUTE_BUDGET = 12;
const COVENANT_ID_KEY = Buffer.from('CovenantID');

export function sign(plan: Plan): Payment {
  const transaction = unsignedTransaction(plan);
  const hashes = signingHashes(transaction, plan.utxos);
  for (const [index, input] of transaction.inputs.entries()) {
    input.signatureScript = signatureScript(plan, index, hashes[index] ?? new Uint8Array());
  }
  const id = transactionId(transaction);
  return {
    id,
    hash: transactionHash(transaction),
    transaction,
    plan,
    makes: plan.payouts.map(({ owner }, index) => createdUtxo(id, transaction, index, owner)),
    mass: {
      compute: computeMass(transaction),
      storage: transaction.storageMass,
      transient: transientMass(transaction),
    },
  };
}

function createdUtxo(transactionId: Hash, { outputs }: Transaction, index: number, owner: Owner): Utxo {
  const output = outputs[index];
  if (output === undefined) throw new Error(`the transaction has no output ${index}`);
  const { amount, scriptPublicKey, covenant } = output;
  const outpoint = { transactionId, index };
  const entry = {
    key: outpointKey(outpoint),
    outpoint,
    amount,
    scriptPublicKey,
    blockDaaScore: 0n,
    isCoinbase: false,
    covenantId: covenant?.covenantId,
  };
  return { entry, outpoint, output, owner };
}

/** Returns the id of a covenant that this UTXO founds. It commits to the UTXO and to the outputs that carry the covenant. */
export function covenantId(origin: Utxo, outputs: { index: number; payout: Payout }[]): Hash {
  const parts = outputs.flatMap(({ index, payout: { amount, owner } }) => {
    const { version, script } = owner.scriptPublicKey;
    return [uint32(index), uint64(amount), uint16(version), uint64(BigInt(script.length)), script];
  });
  const { transactionId, index } = origin.outpoint;
  const bytes = Buffer.concat([transactionId, uint32(index), uint64(BigInt(outputs.length)), ...parts]);
  return blake2b(bytes, { key: COVENANT_ID_KEY, dkLen: 32 });
}

function unsignedTransaction(plan: Plan): Transaction {
  const version = plan.version ?? 0;
  const outputs = plan.payouts.map(({ amount, owner, covenant }) => ({
    amount,
    scriptPublicKey: owner.scriptPublicKey,
    covenant,
  }));
  return {
    version,
    inputs: plan.utxos.map(({ outpoint, owner }) => ({
      previousOutpoint: outpoint,
      signatureScript: new Uint8Array(),
      sequence: plan.sequence ?? 0n,
      sigOpCount: version === 0 ? owner.sigOps : 0,
      computeBudget: version === 0 ? 0 : (plan.computeBudget ?? COMPUTE_BUDGET),
    })),
    outputs,
    lockTime: plan.lockTime ?? 0n,
    subnetworkId: plan.subnetworkId ?? NATIVE_SUBNETWORK,
    gas: plan.gas ?? 0n,
    payload: plan.payload ?? new Uint8Array(),
    storageMass: storageMass(
      plan.utxos.map(({ output }) => output),
      outputs,
    ),
  };
}

function signatureScript({ utxos, broken }: Plan, index: number, signingHash: Hash): Uint8Array {
  const script = utxos[index]?.owner.sign(signingHash) ?? new Uint8Array();
  // The first byte pushes, the next 64 are the signature.
  return broken === true && index === 0 ? script.map((byte, at) => (at === 10 ? byte ^ 1 : byte)) : script;
}

/** Just below the limits of a block. */
const LIMITS: Mass = { compute: 490_000n, storage: 490_000n, transient: 980_000n };

/** Returns the longest prefix of these payments that fits into one block. */
export function fitting(payments: readonly Payment[]): Payment[] {
  const used: Mass = { compute: 0n, storage: 0n, transient: 0n };
  const full = payments.findIndex(({ mass }) => {
    used.compute += mass.compute;
    used.storage += mass.storage;
    used.transient += mass.transient;
    return used.compute > LIMITS.compute || used.storage > LIMITS.storage || used.transient > LIMITS.transient;
  });
  return payments.slice(0, full < 0 ? payments.length : full);
}
