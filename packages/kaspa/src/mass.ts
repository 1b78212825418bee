/**
 * The three masses that limit a block (rusty-kaspa, consensus/core/src/mass): compute mass for
 * validating a transaction, transient mass for storing its bytes until they are pruned, storage
 * mass for its growth of the UTXO set (KIP-9). A coinbase has none.
 */
import { HASH_BYTES } from './block-hash.ts';
import type { Transaction, TransactionInput, TransactionOutput } from './model.ts';
import { isCoinbase, SUBNETWORK_ID_BYTES } from './transaction-id.ts';

const MASS_PER_BYTE = 1;
const MASS_PER_SCRIPT_PUBLIC_KEY_BYTE = 10;
const MASS_PER_SIG_OP = 1000;
const MASS_PER_COMPUTE_BUDGET_UNIT = 100;
const TRANSIENT_MASS_PER_BYTE = 4;

const UINT16_BYTES = 2;
const UINT32_BYTES = 4;
const UINT64_BYTES = 8;

/** Allocates nothing, since it is computed of every indexed transaction. */
export function computeMass(transaction: Transaction): bigint {
  if (isCoinbase(transaction)) return 0n;
  const { version, inputs, outputs } = transaction;
  let mass = estimatedBytes(transaction) * MASS_PER_BYTE;
  for (const input of inputs) mass += inputMass(input, version);
  for (const { scriptPublicKey } of outputs) mass += outputMass(scriptPublicKey.script.length);
  return BigInt(mass);
}

/** The scripts of a transaction, as sums over its inputs and its outputs. */
export interface ScriptTotals {
  sigOps: number;
  computeBudget: number;
  outputs: number;
  outputScriptBytes: number;
}

/** Returns what the scripts add to the compute mass. */
function scriptMass(version: number, { sigOps, computeBudget, outputs, outputScriptBytes }: ScriptTotals): number {
  const ofInputs = inputMass({ sigOpCount: sigOps, computeBudget }, version);
  return ofInputs + (UINT16_BYTES * outputs + outputScriptBytes) * MASS_PER_SCRIPT_PUBLIC_KEY_BYTE;
}

function inputMass(
  { sigOpCount, computeBudget }: Pick<TransactionInput, 'sigOpCount' | 'computeBudget'>,
  version: number,
): number {
  return version === 0 ? sigOpCount * MASS_PER_SIG_OP : computeBudget * MASS_PER_COMPUTE_BUDGET_UNIT;
}

function outputMass(scriptBytes: number): number {
  return (UINT16_BYTES + scriptBytes) * MASS_PER_SCRIPT_PUBLIC_KEY_BYTE;
}

export function transientMass(transaction: Transaction): bigint {
  return isCoinbase(transaction) ? 0n : BigInt(estimatedBytes(transaction) * TRANSIENT_MASS_PER_BYTE);
}

/**
 * Returns the transient mass of a transaction by its compute mass, without its bytes. It is not a
 * coinbase.
 */
export function transientMassFrom(computed: bigint, version: number, scripts: ScriptTotals): bigint {
  const bytes = (computed - BigInt(scriptMass(version, scripts))) / BigInt(MASS_PER_BYTE);
  return bytes * BigInt(TRANSIENT_MASS_PER_BYTE);
}

/** Blocks have room for twice as much transient mass as for the others. */
const TRANSIENT_LIMIT_FACTOR = 2n;

/**
 * Returns the mass by which nodes measure fee rates: the largest one, relative to what a block has
 * room for.
 */
export function normalizedMass(compute: bigint, storage: bigint, transient: bigint): bigint {
  const normalized = transient / TRANSIENT_LIMIT_FACTOR;
  const larger = compute > storage ? compute : storage;
  return larger > normalized ? larger : normalized;
}

/**
 * Returns the size by consensus: that of a plain serialisation, which neither gRPC nor p2p uses.
 */
function estimatedBytes({ version, inputs, outputs, payload }: Transaction): number {
  return (
    UINT16_BYTES + // version
    UINT64_BYTES + // number of inputs
    sum(inputs, (input) => inputBytes(input, version)) +
    UINT64_BYTES + // number of outputs
    sum(outputs, outputBytes) +
    UINT64_BYTES + // lock time
    SUBNETWORK_ID_BYTES +
    UINT64_BYTES + // gas
    HASH_BYTES + // of the payload
    UINT64_BYTES + // length of the payload
    payload.length
  );
}

function inputBytes({ signatureScript }: TransactionInput, version: number): number {
  const outpointBytes = HASH_BYTES + UINT32_BYTES;
  const computeBudgetBytes = version === 0 ? 0 : UINT16_BYTES;
  // Between outpoint and compute budget: the length of the script, the script, the sequence.
  return outpointBytes + UINT64_BYTES + signatureScript.length + UINT64_BYTES + computeBudgetBytes;
}

function outputBytes({ scriptPublicKey, covenant }: TransactionOutput): number {
  const covenantBytes = covenant === undefined ? 0 : UINT16_BYTES + HASH_BYTES;
  // Amount, version of the script, its length, the script.
  return UINT64_BYTES + UINT16_BYTES + UINT64_BYTES + scriptPublicKey.script.length + covenantBytes;
}

const STORAGE_MASS_PARAMETER = 10n ** 12n;
/**
 * The size of a UTXO besides its script: outpoint, amount, DAA score, coinbase flag, version and
 * length of the script.
 */
const UTXO_BYTES = HASH_BYTES + UINT32_BYTES + 3 * UINT64_BYTES + 1 + UINT16_BYTES;
const STORAGE_UNIT_BYTES = 100;

/**
 * Returns the storage mass of a transaction: created outputs count more the smaller their amounts
 * are, spent ones are credited, down to zero.
 * @param spent the outputs that the inputs refer to; empty for a coinbase
 * @throws RangeError on an amount of zero, which consensus forbids
 */
export function storageMass(spent: readonly TransactionOutput[], created: readonly TransactionOutput[]): bigint {
  if (spent.length === 0) return 0n;
  const createdUnits = storageUnits(created);
  const spentUnits = storageUnits(spent);
  // KIP-9 credits transactions that do not split their UTXOs with the harmonic mean of the inputs
  // instead of the arithmetic one.
  const isRelaxed = createdUnits === 1n || spentUnits === 1n || (createdUnits === 2n && spentUnits === 2n);
  const credit = isRelaxed ? harmonicMass(spent) : arithmeticMass(spent, spentUnits);
  const debit = harmonicMass(created);
  return debit > credit ? debit - credit : 0n;
}

function harmonicMass(utxos: readonly TransactionOutput[]): bigint {
  return utxos.reduce((mass, utxo) => mass + (STORAGE_MASS_PARAMETER * storageUnitsOf(utxo) ** 2n) / utxo.amount, 0n);
}

function arithmeticMass(utxos: readonly TransactionOutput[], units: bigint): bigint {
  const meanAmount = utxos.reduce((total, { amount }) => total + amount, 0n) / units;
  return units * (STORAGE_MASS_PARAMETER / (meanAmount > 0n ? meanAmount : 1n));
}

function storageUnits(utxos: readonly TransactionOutput[]): bigint {
  return utxos.reduce((units, utxo) => units + storageUnitsOf(utxo), 0n);
}

/** A UTXO with a standard script and without a covenant is one unit. */
function storageUnitsOf({ scriptPublicKey, covenant }: TransactionOutput): bigint {
  const bytes = UTXO_BYTES + scriptPublicKey.script.length + (covenant === undefined ? 0 : HASH_BYTES);
  return BigInt(Math.ceil(bytes / STORAGE_UNIT_BYTES));
}

function sum<T>(items: readonly T[], valueOf: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += valueOf(item);
  return total;
}
