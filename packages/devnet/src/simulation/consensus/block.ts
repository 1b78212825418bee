/**
 * A block in consensus: the received data, and the data that follow from its position in the DAG. Blocks reference each other directly. All
 * fields below `transactions` are computed once, when the block is added, except for `state`.
 */
import type { Hash, Header } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import type { Acceptance } from './acceptance.ts';
import type { SampledWindow } from './window.ts';

/** The GHOSTDAG data of a block or of the virtual block, which follow from its parents alone. */
export interface Ghostdag {
  /** The parent with the most blue work. */
  selectedParent: Block;
  /** Selected parent first, then ascending by (blue work, hash); so are the reds. */
  mergeSetBlues: readonly Block[];
  mergeSetReds: readonly Block[];
  /** Blues and reds in the order of acceptance: selected parent first, then ascending. */
  mergeSet: readonly Block[];
  /** For the blues whose count changed here: how many blues of this block's past are in their anticone. */
  blueAnticoneSizes: ReadonlyMap<Block, number>;
  blueScore: number;
  blueWork: bigint;
}

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

/**
 * Whether a block can be on the selected chain, known once it was a candidate: `qualified` with what it accepts, or `disqualified`
 * because one of its transactions or commitments is invalid (its transactions may still be accepted by others). On the chain or off it,
 * this is forgotten once it is `final`.
 */
export type ChainState =
  | { kind: 'unknown' }
  | { kind: 'disqualified'; reason: string }
  | { kind: 'qualified'; acceptance: Acceptance }
  | { kind: 'final' };

export const FINAL: ChainState = { kind: 'final' };

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

/** Ascending by (blue work, hash): the order in which a node prefers, merges and accepts. */
export function compareBlocks(a: Block, b: Block): number {
  if (a.blueWork !== b.blueWork) return a.blueWork < b.blueWork ? -1 : 1;
  if (a === b) return 0;
  return a.id < b.id ? -1 : 1;
}

/** Throws when there is none. */
export function greatest(blocks: readonly Block[]): Block {
  const [first, ...others] = blocks;
  if (first === undefined) throw new Error('no block to choose from');
  return others.reduce((best, block) => (compareBlocks(block, best) > 0 ? block : best), first);
}
