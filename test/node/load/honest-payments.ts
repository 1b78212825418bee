/**
 * Full blocks of ordinary payments, which a node accepts: from outputs that anybody may spend to an
 * address and back.
 */
import {
  ANYONES_SCRIPT,
  type DagTransaction,
  MassBudget,
  payToKey,
  requiredStorageMass,
  unsigned,
  withDerived,
  withInput,
} from '@kasgres/devnet';
import type { HostileMiner } from './hostile-miner.ts';

/** Sompi. A block has room for about as many of these by compute mass as by storage mass. */
const PAID = 500_000_000n;
const FEE = 300_000n;
/** A budget of one signature, as an ordinary payment has. */
const SIG_OPS = 1;

export class HonestPayments {
  readonly #miner: HostileMiner;

  constructor(miner: HostileMiner) {
    this.#miner = miner;
  }

  /** Returns what fills a block, as far as there are outputs to spend. */
  block(): DagTransaction[] {
    const budget = new MassBudget();
    const payments: DagTransaction[] = [];
    for (const entry of this.#miner.spendableOutputs()) {
      if (entry.amount < 3n * PAID) continue;
      const outputs = [
        { amount: PAID, scriptPublicKey: this.#someAddress() },
        { amount: entry.amount - PAID - FEE, scriptPublicKey: ANYONES_SCRIPT },
      ];
      const unweighed = withInput(unsigned([entry.outpoint], outputs), { sigOpCount: SIG_OPS });
      const payment = withDerived({ ...unweighed, storageMass: requiredStorageMass(unweighed, [entry]) });
      if (!budget.take(payment)) break;
      payments.push(payment);
    }
    return payments;
  }

  #someAddress() {
    return payToKey(this.#miner.random.bytes(32));
  }
}
