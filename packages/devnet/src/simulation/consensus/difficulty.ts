/**
 * Difficulty and times from sampled windows (KIP-4). Source: rusty-kaspa,
 * consensus/src/processes/{difficulty,past_median_time}.rs.
 */
import { targetFromBits } from '@kasgres/kaspa';
import { type Block, type BlockContext, compareBlocks, type Ghostdag, type SampledWindow } from './block.ts';
import type { ConsensusParams } from './params.ts';

const MAX_TARGET = 2n ** 255n - 1n;
/** The number of timestamps around the median that are averaged. */
const MEDIAN_FRAME = 11;

const NO_BLOCKS: ReadonlySet<Block> = new Set();

export function blockContext(ghostdag: Ghostdag, params: ConsensusParams): BlockContext {
  const { selectedParent } = ghostdag;
  const nonDaa = blocksBelowWindow(ghostdag, params.difficulty);
  const difficultyWindow = extendWindow(selectedParent.difficultyWindow, ghostdag, nonDaa, params.difficulty);
  const medianTimeWindow = extendWindow(selectedParent.medianTimeWindow, ghostdag, nonDaa, params.medianTime);
  return {
    daaScore: selectedParent.daaScore + ghostdag.mergeSet.length - nonDaa.size,
    nonDaa,
    difficultyWindow,
    medianTimeWindow,
    bits: difficultyBits(difficultyWindow, selectedParent, params),
    pastMedianTime: pastMedianTime(medianTimeWindow, selectedParent),
  };
}

function blocksBelowWindow(
  { mergeSet, blueScore }: Ghostdag,
  { windowSize, sampleRate }: ConsensusParams['difficulty'],
): ReadonlySet<Block> {
  const lowestBlueScore = Math.max(blueScore - windowSize * sampleRate, 0);
  // Genesis has a fixed timestamp and never counts.
  const tooOld = mergeSet.filter((block) => block.blueScore < lowestBlueScore || block.height === 0);
  return tooOld.length === 0 ? NO_BLOCKS : new Set(tooOld);
}

function extendWindow(
  parentWindow: SampledWindow,
  { selectedParent, mergeSet }: Ghostdag,
  nonDaa: ReadonlySet<Block>,
  { windowSize, sampleRate }: ConsensusParams['medianTime'],
): SampledWindow {
  if (selectedParent.height === 0) return [];
  const counted = [selectedParent, ...mergeSet.slice(1).reverse()].filter((block) => !nonDaa.has(block));
  const samples = counted.filter((_, index) => (selectedParent.daaScore + index + 1) % sampleRate === 0);
  if (samples.length === 0) return parentWindow;
  return [...parentWindow, ...samples].sort((a, b) => compareBlocks(b, a)).slice(0, windowSize);
}

/** Returns the compact bits: the selected parent's until the window is long enough. */
function difficultyBits(window: SampledWindow, selectedParent: Block, params: ConsensusParams): number {
  const { sampleRate, minWindowSize } = params.difficulty;
  if (window.length < minWindowSize || window === selectedParent.difficultyWindow) return selectedParent.bits;
  const [earliest, ...others] = window.toSorted((a, b) => timestamp(a) - timestamp(b));
  const latest = others.at(-1);
  if (earliest === undefined || latest === undefined) return selectedParent.bits;
  const count = BigInt(others.length);
  const averageTarget = others.reduce((sum, block) => sum + targetFromBits(block.bits), 0n) / count;
  const duration = BigInt(Math.max(timestamp(latest) - timestamp(earliest), 1));
  const expectedDuration = BigInt(params.targetTimePerBlockMs * sampleRate) * count;
  const target = (averageTarget * duration) / expectedDuration;
  return bitsFromTarget(target < MAX_TARGET ? target : MAX_TARGET);
}

/** Returns the mean of the middle of the window, in Unix milliseconds. */
function pastMedianTime(window: SampledWindow, selectedParent: Block): number {
  if (window.length === 0) return timestamp(selectedParent);
  const times = window.map(timestamp).sort((a, b) => a - b);
  const frame = Math.min(times.length, MEDIAN_FRAME);
  const end = Math.ceil((times.length + frame) / 2);
  const sum = times.slice(end - frame, end).reduce((total, time) => total + time, 0);
  return Math.floor((sum + Math.floor(frame / 2)) / frame);
}

function timestamp(block: Block): number {
  return Number(block.header.timestamp);
}

/** Returns the compact form of a target: a mantissa of 23 bits and a length in bytes. */
export function bitsFromTarget(target: bigint): number {
  let length = Math.ceil(target.toString(2).length / 8);
  let mantissa = Number(length <= 3 ? target << BigInt(8 * (3 - length)) : target >> BigInt(8 * (length - 3)));
  // The highest bit of the mantissa is a sign.
  if (mantissa & 0x80_0000) {
    mantissa >>>= 8;
    length += 1;
  }
  return length * 0x100_0000 + mantissa;
}
