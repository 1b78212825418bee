/** Fills a block with payments, as far as they are valid where it is mined, do not get in each other's way, and fit. */
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
   * Adds a payment, if it can be.
   * @param body another body of it, to stand in the block in its place; it need not be valid
   */
  tryAdd(payment: DagTransaction, body: DagTransaction = payment): boolean {
    const id = toHex(payment.transactionId);
    const keys = payment.inputs.map(({ previousOutpoint }) => outpointKey(previousOutpoint));
    if (this.ids.has(id) || keys.some((key) => this.spent.has(key))) return false;
    if (this.consensus.checkPayment(payment, this.utxos, this.virtual.daaScore).kind !== 'valid') return false;
    if (!this.budget.take(body)) return false;
    this.ids.add(id);
    for (const key of keys) this.spent.add(key);
    this.payments.push(body);
    return true;
  }
}
