/** The remaining capacity of a block: each of the three masses has its own limit. */
import { transientMass } from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';

const MAX_COMPUTE_MASS = 500_000n;
const MAX_STORAGE_MASS = 500_000n;
const MAX_TRANSIENT_MASS = 1_000_000n;

export class MassBudget {
  private compute = 0n;
  private storage = 0n;
  private transient = 0n;

  /** Reserves the masses of a transaction. Returns false if they do not fit. */
  take(transaction: DagTransaction): boolean {
    const compute = this.compute + transaction.computeMass;
    const storage = this.storage + transaction.storageMass;
    const transient = this.transient + transientMass(transaction);
    if (compute > MAX_COMPUTE_MASS || storage > MAX_STORAGE_MASS || transient > MAX_TRANSIENT_MASS) return false;
    this.compute = compute;
    this.storage = storage;
    this.transient = transient;
    return true;
  }
}
