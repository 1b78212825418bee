/**
 * A point of view: the data of a future block that follow from its parents alone. The virtual block has one, and so has a miner who has not
 * heard of the latest blocks yet.
 */
import type { Acceptance } from './acceptance.ts';
import type { Block, BlockContext, Ghostdag } from './block.ts';
import { difficultyBits, pastMedianTime } from './difficulty.ts';
import { ghostdag } from './ghostdag.ts';
import type { ConsensusParams } from './params.ts';
import { countDaa, extendWindow } from './window.ts';

export interface Pov extends BlockContext {
  /** In the order of a header: the selected parent first, if the miner knew it. */
  readonly parents: readonly Block[];
  readonly ghostdag: Ghostdag;
  /** Known once it was asked for; only where the selected parent is qualified for the chain. */
  acceptance: Acceptance | undefined;
}

export function povOf(parents: readonly Block[], params: ConsensusParams): Pov {
  const merged = ghostdag(parents, params);
  const { selectedParent } = merged;
  const { daaScore, nonDaa } = countDaa(merged, params.difficulty);
  const difficultyWindow = extendWindow(selectedParent.difficultyWindow, merged, nonDaa, params.difficulty);
  const medianTimeWindow = extendWindow(selectedParent.medianTimeWindow, merged, nonDaa, params.medianTime);
  return {
    parents,
    ghostdag: merged,
    daaScore,
    nonDaa,
    difficultyWindow,
    medianTimeWindow,
    bits: difficultyBits(difficultyWindow, selectedParent, params),
    pastMedianTime: pastMedianTime(medianTimeWindow, selectedParent),
    acceptance: undefined,
  };
}

const CAPACITY = 512;

/**
 * Remembers the latest blocks to be: siblings have the same parents, and a block mostly those of the virtual block that it was made on,
 * so most mergesets are coloured and accepted once only.
 */
export class PovMemo {
  private readonly povs = new Map<string, Pov>();
  private readonly compute: (parents: readonly Block[]) => Pov;

  constructor(compute: (parents: readonly Block[]) => Pov) {
    this.compute = compute;
  }

  get(parents: readonly Block[]): Pov {
    const key = parents.map((parent) => parent.index).join();
    const known = this.povs.get(key);
    if (known !== undefined) return known;
    const pov = this.compute(parents);
    this.povs.set(key, pov);
    if (this.povs.size > CAPACITY) {
      const oldest = this.povs.keys().next();
      if (!oldest.done) this.povs.delete(oldest.value);
    }
    return pov;
  }
}
