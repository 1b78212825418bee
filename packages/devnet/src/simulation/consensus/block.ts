/** A block in consensus. Blocks reference each other directly; only `state` and `mergedBy` change after a block is added. */
import type { Hash, Header } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import type { Acceptance } from './acceptance.ts';

/** The GHOSTDAG data of a block or of the virtual block, which follow from its parents alone. */
export interface Ghostdag {
  /** The parent with the most blue work. */
  selectedParent: Block;
  /** Selected parent first, then ascending by (blue work, hash); so are the reds. */
  mergeSetBlues: readonly Block[];
  mergeSetReds: readonly Block[];
  /** Blues and reds in the order of acceptance: selected parent first, then ascending. */
  mergeSet: readonly Block[];
  /** By blue whose count changed here: the number of blues of this block's past in its anticone. */
  blueAnticoneSizes: ReadonlyMap<Block, number>;
  blueScore: number;
  blueWork: bigint;
}

/** Blocks of a sampled window (KIP-4), descending by (blue work, hash). Blocks share a window until a mergeset adds a sample. */
export type SampledWindow = readonly Block[];

/** Further data that follow from a mergeset. */
export interface BlockContext {
  daaScore: number;
  /** Merged blocks too old for the difficulty window: they earn no subsidy. */
  nonDaa: ReadonlySet<Block>;
  bits: number;
  /** Unix milliseconds: a block's own timestamp must be later. */
  pastMedianTime: number;
  difficultyWindow: SampledWindow;
  medianTimeWindow: SampledWindow;
}

/** The data of a future block that follow from its parents alone. */
export interface Pov extends BlockContext {
  /** In the order of the header: the selected parent first, if the miner knew it. */
  readonly parents: readonly Block[];
  readonly ghostdag: Ghostdag;
  /** Computed on demand, only if the selected parent is qualified for the chain. */
  acceptance: Acceptance | undefined;
}

/**
 * Whether a block can be on the selected chain. It is unknown until the block is a candidate. A transaction of a disqualified block may still be
 * accepted by others. The acceptance of a final block is deleted.
 */
export type ChainState = { kind: 'unknown' | 'disqualified' | 'final' } | { kind: 'qualified'; acceptance: Acceptance };

export interface Block extends BlockContext {
  /** The order of insertion: parents have lower indexes. */
  readonly index: number;
  readonly hash: Hash;
  /** Hex. */
  readonly id: string;
  readonly header: Header;
  readonly transactions: readonly DagTransaction[];
  readonly parents: readonly Block[];
  /** `undefined` for genesis. */
  readonly ghostdag: Ghostdag | undefined;
  readonly blueScore: number;
  readonly blueWork: bigint;
  /** Blue work that merging this block as a blue adds. */
  readonly work: bigint;

  /** The tree of selected parents, see `reachability.ts`. */
  readonly height: number;
  readonly jump: Block | undefined;
  readonly mergedBy: Block[];

  state: ChainState;
}

/** Ascending by (blue work, hash), the order of preference, mergesets and acceptance. */
export function compareBlocks(a: Block, b: Block): number {
  if (a.blueWork !== b.blueWork) return a.blueWork < b.blueWork ? -1 : 1;
  if (a === b) return 0;
  return a.id < b.id ? -1 : 1;
}

/** Throws for genesis. Walks down the chain stop before it, because genesis is in every block's past. */
export function getGhostdag(block: Block): Ghostdag {
  if (block.ghostdag === undefined) throw new Error('genesis has no mergeset');
  return block.ghostdag;
}
