import type { Hash, Header } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import type { UtxoDiff } from '../../economy/utxo.ts';

export interface Ghostdag {
  selectedParent: Block;
  mergeSetBlues: readonly Block[];
  mergeSetReds: readonly Block[];
  /**
   * In the order of acceptance: selected parent first, then ascending by (blue work, hash), as
   * blues and reds are.
   */
  mergeSet: readonly Block[];
  /** The number of blues in the anticone of each blue whose number changed here. */
  blueAnticoneSizes: ReadonlyMap<Block, number>;
  blueScore: number;
  blueWork: bigint;
}

/** A sampled window (KIP-4), descending by (blue work, hash). */
export type SampledWindow = readonly Block[];

export interface BlockContext {
  daaScore: number;
  /** Merged blocks too old for the difficulty window: they earn no subsidy. */
  nonDaa: ReadonlySet<Block>;
  bits: number;
  /** Unix milliseconds. */
  pastMedianTime: number;
  difficultyWindow: SampledWindow;
  medianTimeWindow: SampledWindow;
}

/** The data of a future block that follow from its parents alone. */
export interface Pov extends BlockContext {
  /** In the order of the header. */
  readonly parents: readonly Block[];
  readonly ghostdag: Ghostdag;
  /** Computed on demand if the selected parent is qualified. */
  acceptance: Acceptance | undefined;
}

/**
 * Whether a block can be on the selected chain, which is unknown until it is a candidate. Final
 * blocks have no acceptance, to save memory.
 */
export type ChainState = { kind: 'unknown' | 'disqualified' | 'final' } | { kind: 'qualified'; acceptance: Acceptance };

/** Only `state` and `mergedBy` change after a block is added. */
export interface Block extends BlockContext {
  /** In the order of insertion: parents have lower indexes. */
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
  readonly work: bigint;
  readonly height: number;
  readonly jump: Block | undefined;
  readonly mergedBy: Block[];
  state: ChainState;
}

/** Compares by (blue work, hash). */
export function compareBlocks(a: Block, b: Block): number {
  if (a.blueWork !== b.blueWork) return a.blueWork < b.blueWork ? -1 : 1;
  if (a === b) return 0;
  return a.id < b.id ? -1 : 1;
}

/** Throws for genesis. */
export function getGhostdag(block: Block): Ghostdag {
  if (block.ghostdag === undefined) throw new Error('genesis has no mergeset');
  return block.ghostdag;
}

export interface Acceptance {
  /** `index` is the position of the transaction in its merged block. */
  accepted: readonly { block: Block; index: number }[];
  /** The changes to the state at the selected parent. */
  diff: UtxoDiff;
  /**
   * Sompi that the accepted transactions of each merged block pay, in the order of the mergeset.
   */
  fees: readonly bigint[];
}
