/**
 * Sampled windows (KIP-4): the blocks that difficulty and median time are computed from, every n-th block of the past. A window
 * differs from the selected parent's only when the mergeset holds a sample, so blocks share them.
 */
import { type Block, compareBlocks, type Ghostdag } from './block.ts';

export interface SampledWindow {
  /** Descending by (blue work, hash). */
  readonly blocks: readonly Block[];
}

export interface WindowSize {
  windowSize: number;
  sampleRate: number;
}

export const EMPTY_WINDOW: SampledWindow = { blocks: [] };
const NO_BLOCKS: ReadonlySet<Block> = new Set();

/** DAA scores count the blocks inside the difficulty window; what lies below is too old to count, or to be paid. */
export function countDaa(
  { selectedParent, mergeSet, blueScore }: Ghostdag,
  { windowSize, sampleRate }: WindowSize,
): { daaScore: number; nonDaa: ReadonlySet<Block> } {
  const lowestBlueScore = Math.max(blueScore - windowSize * sampleRate, 0);
  // Genesis has a fixed timestamp and never counts.
  const tooOld = mergeSet.filter((block) => block.blueScore < lowestBlueScore || block.height === 0);
  const nonDaa = tooOld.length === 0 ? NO_BLOCKS : new Set(tooOld);
  return { daaScore: selectedParent.daaScore + mergeSet.length - nonDaa.size, nonDaa };
}

/** The window of a block, from its selected parent's. */
export function extendWindow(
  parentWindow: SampledWindow,
  { selectedParent, mergeSet }: Ghostdag,
  nonDaa: ReadonlySet<Block>,
  { windowSize, sampleRate }: WindowSize,
): SampledWindow {
  if (selectedParent.height === 0) return EMPTY_WINDOW;
  const counted = [selectedParent, ...mergeSet.slice(1).reverse()].filter((block) => !nonDaa.has(block));
  const samples = counted.filter((_, index) => (selectedParent.daaScore + index + 1) % sampleRate === 0);
  if (samples.length === 0) return parentWindow;
  const blocks = [...parentWindow.blocks, ...samples].sort((a, b) => compareBlocks(b, a)).slice(0, windowSize);
  return { blocks };
}
