/** The latest blocks and the virtual block after each, which is the view of miners who are behind. */
import type { Block } from '../consensus/block.ts';
import type { Virtual } from '../consensus/consensus.ts';
import { isDagAncestorOfAny } from '../consensus/reachability.ts';

/** Blocks that are remembered: enough for a block to be withheld until it can only be red. */
const CAPACITY = 200;

export class RecentPast {
  private readonly moments: { block: Block; virtual: Virtual }[] = [];

  add(block: Block, virtual: Virtual): void {
    this.moments.push({ block, virtual });
    if (this.moments.length > CAPACITY) this.moments.shift();
  }

  /** The virtual block so many blocks ago; undefined where that is longer than is remembered. */
  virtualBefore(blocks: number): Virtual | undefined {
    return this.moments.at(-1 - blocks)?.virtual;
  }

  /** Remembered blocks that a miner on a virtual block does not know, latest first. */
  unseenFrom({ parents }: Virtual): Block[] {
    const unseen: Block[] = [];
    for (const { block } of this.moments.toReversed()) {
      if (parents.includes(block)) break;
      if (!isDagAncestorOfAny(block, parents)) unseen.push(block);
    }
    return unseen;
  }
}
