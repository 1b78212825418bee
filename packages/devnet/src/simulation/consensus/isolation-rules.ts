/**
 * Rules that a node checks of every block without its UTXOs. A block that breaks one of these rules
 * is not merged; one that breaks only rules of the chain is. Masses are left to the miners, since
 * tests make blocks beyond the limits. Source: rusty-kaspa,
 * consensus/src/processes/transaction_validator/tx_validation_in_isolation.rs and
 * tx_validation_in_header_context.rs.
 */
import { classifySubnetwork, isCoinbase, MAX_SOMPI, toHex } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { spentKeysOf } from '../../economy/utxo.ts';
import type { ConsensusParams } from './params.ts';

/** Inputs, and outputs, of a transaction. */
const MAX_INPUTS = 1_000;
const MAX_SIGNATURE_SCRIPT_BYTES = 250_000;
export const MAX_SCRIPT_BYTES = 10_000;
export const MAX_COINBASE_SCRIPT_BYTES = 150;
export const MAX_GAS_PER_LANE = 1_000_000_000n;
export const MAX_LANES = 50;
/** Lock times from here on are Unix milliseconds, lower ones are DAA scores. */
export const LOCK_TIME_THRESHOLD = 500_000_000_000n;
/** An input with this sequence ignores the lock time. */
export const FINAL_SEQUENCE = 2n ** 64n - 1n;

const MAX_VERSION = 1;

/**
 * Returns why no block may contain these transactions, the coinbase first; `undefined` if one may.
 */
export function findIsolationProblem(
  transactions: readonly DagTransaction[],
  params: ConsensusParams,
): string | undefined {
  for (const transaction of transactions) {
    const problem = findProblem(transaction, params);
    if (problem !== undefined) return `transaction ${toHex(transaction.transactionId)}: ${problem}`;
  }
  return findGasProblem(transactions.slice(1));
}

/** Returns whether a block of that DAA score and past median time may contain the transaction. */
export function isFinalized({ lockTime, inputs }: DagTransaction, daaScore: number, pastMedianTime: number): boolean {
  if (lockTime === 0n) return true;
  const now = lockTime < LOCK_TIME_THRESHOLD ? daaScore : pastMedianTime;
  return lockTime < BigInt(now) || inputs.every(({ sequence }) => sequence === FINAL_SEQUENCE);
}

function findProblem(transaction: DagTransaction, params: ConsensusParams): string | undefined {
  const { version, inputs, outputs } = transaction;
  if (version > MAX_VERSION) return `transaction version ${version} is unknown`;
  if (inputs.some(({ sigOpCount, computeBudget }) => (version === 0 ? computeBudget : sigOpCount) > 0)) {
    return 'an input has a field of another transaction version';
  }
  if (version === 0 && outputs.some(({ covenant }) => covenant !== undefined)) return 'covenant in version 0';
  return (
    (isCoinbase(transaction) ? findCoinbaseProblem(transaction, params) : findPaymentProblem(transaction)) ??
    findAmountProblem(transaction) ??
    findLaneProblem(transaction)
  );
}

function findCoinbaseProblem(
  { inputs, outputs, storageMass }: DagTransaction,
  { ghostdagK }: ConsensusParams,
): string | undefined {
  if (inputs.length > 0) return `coinbase has ${inputs.length} inputs`;
  if (storageMass > 0n) return 'coinbase has a storage mass';
  if (outputs.length > ghostdagK + 2) return `coinbase has ${outputs.length} outputs, more than k + 2`;
  const long = outputs.findIndex(({ scriptPublicKey }) => scriptPublicKey.script.length > MAX_COINBASE_SCRIPT_BYTES);
  return long < 0 ? undefined : `script of coinbase output ${long} is too long`;
}

function findPaymentProblem(transaction: DagTransaction): string | undefined {
  const { inputs, outputs } = transaction;
  if (inputs.length === 0) return 'transaction has no inputs';
  if (inputs.length > MAX_INPUTS) return `transaction has ${inputs.length} inputs`;
  if (outputs.length > MAX_INPUTS) return `transaction has ${outputs.length} outputs`;
  if (inputs.some(({ signatureScript }) => signatureScript.length > MAX_SIGNATURE_SCRIPT_BYTES)) {
    return 'a signature script is too long';
  }
  if (outputs.some(({ scriptPublicKey }) => scriptPublicKey.script.length > MAX_SCRIPT_BYTES)) {
    return 'a script public key is too long';
  }
  return new Set(spentKeysOf(transaction)).size < inputs.length ? 'transaction has duplicate inputs' : undefined;
}

function findAmountProblem({ outputs }: DagTransaction): string | undefined {
  const worthless = outputs.findIndex(({ amount }) => amount <= 0n);
  if (worthless >= 0) return `transaction output ${worthless} has zero value`;
  const total = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  return total > MAX_SOMPI ? `total value of the outputs is above ${MAX_SOMPI}` : undefined;
}

function findLaneProblem({ version, subnetworkId, gas }: DagTransaction): string | undefined {
  const kind = classifySubnetwork(subnetworkId);
  if (kind === 'reserved' || kind === 'invalid' || (kind === 'lane' && version === 0)) {
    return `subnetwork ${toHex(subnetworkId)} is disabled`;
  }
  return gas > 0n && kind !== 'lane' ? 'gas outside of a lane' : undefined;
}

function findGasProblem(payments: readonly DagTransaction[]): string | undefined {
  const lanes = new Map<string, bigint>();
  for (const payment of payments) {
    const lane = toHex(payment.subnetworkId);
    lanes.set(lane, (lanes.get(lane) ?? 0n) + payment.gas);
  }
  if (lanes.size > MAX_LANES) return `block has ${lanes.size} lanes`;
  return [...lanes.values()].some((gas) => gas > MAX_GAS_PER_LANE)
    ? 'block exceeds the gas limit of a lane'
    : undefined;
}
