/** Fills a block with payments that are valid where it is mined, independent of each other, and fit. */
import { toHex } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import type { Consensus, Virtual } from '../consensus/consensus.ts';
import { outpointKey, type UtxoView } from '../../economy/utxo.ts';
import { MassBudget } from '../../economy/mass-budget.ts';

export class BlockFilling {
  /** The unspent outputs that the block may spend. */
  readonly utxos: UtxoView;
  readonly payments: DagTransaction[] = [];
  private readonly consensus: Consensus;
  private readonly virtual: Virtual;
  private readonly budget = new MassBudget();
  private readonly ids = new Set<string>();
  private readonly spent = new Set<string>();

  constructor(consensus: Consensus, virtual: Virtual) {
    this.consensus = consensus;
    this.virtual = virtual;
    this.utxos = consensus.viewOf(virtual);
  }

  /**
   * Adds a payment if possible.
   * @param variant another variant, possibly invalid, that the block contains instead
   */
  tryAdd(payment: DagTransaction, variant: DagTransaction = payment): boolean {
    const id = toHex(payment.transactionId);
    const keys = payment.inputs.map(({ previousOutpoint }) => outpointKey(previousOutpoint));
    if (this.ids.has(id) || keys.some((key) => this.spent.has(key))) return false;
    if (this.consensus.checkPayment(payment, this.utxos, this.virtual.daaScore).kind !== 'valid') return false;
    if (!this.budget.take(variant)) return false;
    this.ids.add(id);
    for (const key of keys) this.spent.add(key);
    this.payments.push(variant);
    return true;
  }
}
