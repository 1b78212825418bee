/** The relay rules of a node beyond consensus; messages are kaspad's. */
import { classifyScript, toHex, transientMass } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { outpointKey } from '../../economy/utxo.ts';

const MAX_VERSION = 1;
const MAX_MASS = 500_000n;
const MAX_TRANSIENT_MASS = 1_000_000n;
const MIN_FEE_PER_MASS = 100n;

/** Returns why a transaction is rejected regardless of the UTXOs that it spends, `undefined` if it is not. */
export function findFormProblem(transaction: DagTransaction): string | undefined {
  const { version, inputs, outputs, computeMass } = transaction;
  if (version > MAX_VERSION)
    return notStandard(transaction, `transaction version ${version} is not in the valid range of 0-1`);
  if (inputs.length === 0) return 'transaction has no inputs';
  const outpoints = new Set(inputs.map(({ previousOutpoint }) => outpointKey(previousOutpoint)));
  if (outpoints.size < inputs.length) return 'transaction has duplicate inputs';
  if (computeMass > MAX_MASS) return tooHeavy('compute', computeMass, MAX_MASS);
  const transient = transientMass(transaction);
  if (transient > MAX_TRANSIENT_MASS) return tooHeavy('transient (storage)', transient, MAX_TRANSIENT_MASS);
  const worthless = outputs.findIndex(({ amount }) => amount === 0n);
  if (worthless >= 0) return `transaction output ${worthless} has zero value`;
  const odd = outputs.findIndex(({ scriptPublicKey }) => classifyScript(scriptPublicKey) === 'nonstandard');
  if (odd >= 0) return notStandard(transaction, `transaction output #${odd}: non-standard script form`);
  return undefined;
}

/** Returns why a valid transaction is not relayed, `undefined` if it is. Expects the storage mass to be set. */
export function findRelayProblem(transaction: DagTransaction, fee: bigint): string | undefined {
  if (transaction.storageMass > MAX_MASS) return tooHeavy('storage', transaction.storageMass, MAX_MASS);
  const halfTransient = transientMass(transaction) / 2n;
  const mass = transaction.computeMass > halfTransient ? transaction.computeMass : halfTransient;
  const required = mass * MIN_FEE_PER_MASS;
  if (fee >= required) return undefined;
  const problem = `transaction has ${fee} fees which is under the required amount of ${required} for compute mass ${mass}`;
  return notStandard(transaction, problem);
}

function tooHeavy(kind: string, mass: bigint, limit: bigint): string {
  return `transaction ${kind} mass of ${mass} is larger than max allowed size of ${limit}`;
}

function notStandard({ transactionId }: DagTransaction, problem: string): string {
  return `transaction ${toHex(transactionId)} is not standard: ${problem}`;
}
