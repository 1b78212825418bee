import { type Block, getGhostdag } from './block.ts';
import { isChainAncestorOf } from './reachability.ts';
import type { UtxoView } from '../../economy/utxo.ts';

/**
 * Walks the tree of selected parents with a view of the UTXO set, and judges unknown blocks on the
 * way.
 */
export class StateCursor {
  readonly view: UtxoView;
  private readonly judge: (block: Block) => void;
  private current: Block;

  /**
   * @param view of the UTXOs at `block`
   * @param judge sets the state of a block, and applies the acceptance of a qualified one to the
   * view
   */
  constructor(view: UtxoView, block: Block, judge: (block: Block) => void) {
    this.view = view;
    this.current = block;
    this.judge = judge;
  }

  /** Moves to a block, or as near to it as its chain is qualified. Returns whether it arrived. */
  moveTo(target: Block): boolean {
    if (target.state.kind === 'disqualified') return false;
    while (!isChainAncestorOf(this.current, target)) this.stepBack();
    const path: Block[] = [];
    for (let block = target; block !== this.current; block = getGhostdag(block).selectedParent) path.push(block);
    for (const block of path.reverse()) this.stepForward(block);
    return this.current === target;
  }

  private stepBack(): void {
    const { state, id } = this.current;
    if (state.kind !== 'qualified') throw new Error(`block ${id} is ${state.kind}, so its acceptance cannot be undone`);
    this.view.undo(state.acceptance.diff);
    this.current = getGhostdag(this.current).selectedParent;
  }

  private stepForward(block: Block): void {
    if (getGhostdag(block).selectedParent !== this.current) block.state = { kind: 'disqualified' };
    else if (block.state.kind === 'qualified') this.view.apply(block.state.acceptance.diff);
    else if (block.state.kind === 'unknown') this.judge(block);
    if (block.state.kind === 'qualified') this.current = block;
  }
}
