/**
 * Walks the tree of selected parents with a view of the UTXO set: back along the chain, and forward to any other block. It judges blocks on the
 * way that were never candidates for the selected chain.
 */
import type { Block } from './block.ts';
import { getGhostdag } from './ghostdag.ts';
import { isChainAncestorOf } from './reachability.ts';
import type { UtxoView } from '../../economy/utxo.ts';

/** Decides `block.state`, given the outputs at its selected parent; afterwards the view shows those at a qualified block. */
export type Judge = (block: Block, view: UtxoView) => void;

export class StateCursor {
  readonly view: UtxoView;
  private readonly judge: Judge;
  private current: Block;

  /** @param view of the unspent outputs at `block`, which is qualified */
  constructor(view: UtxoView, block: Block, judge: Judge) {
    this.view = view;
    this.current = block;
    this.judge = judge;
  }

  /** The block whose state the view shows. */
  get block(): Block {
    return this.current;
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
    const { state } = this.current;
    if (state.kind !== 'qualified') throw new Error(`block ${this.current.id} has no state to go back from`);
    this.view.undo(state.acceptance.diff);
    this.current = getGhostdag(this.current).selectedParent;
  }

  private stepForward(block: Block): void {
    if (getGhostdag(block).selectedParent !== this.current) {
      block.state = { kind: 'disqualified', reason: 'its selected parent is disqualified' };
    } else if (block.state.kind === 'qualified') {
      this.view.apply(block.state.acceptance.diff);
      this.current = block;
    } else if (block.state.kind === 'unknown') {
      this.judge(block, this.view);
      if (this.isQualified(block)) this.current = block;
    }
  }

  /** Reads the state that the judge has set. */
  private isQualified(block: Block): boolean {
    return block.state.kind === 'qualified';
  }
}
