/**
 * Remembers the latest blocks to be: siblings have the same parents, and a block mostly those of the virtual block that it was made on,
 * so most mergesets are coloured and accepted once only.
 */
import type { Block } from './block.ts';
import type { Pov } from './pov.ts';

const CAPACITY = 512;

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
