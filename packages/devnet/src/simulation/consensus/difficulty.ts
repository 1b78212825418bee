/**
 * The difficulty and the past median time of the next block, from the sampled windows of its past (rusty-kaspa,
 * consensus/src/processes/{difficulty,past_median_time}.rs).
 */
import { targetFromBits } from '@kasgres/kaspa';
import type { Block } from './block.ts';
import type { ConsensusParams } from './params.ts';
import type { SampledWindow } from './window.ts';

const MAX_TARGET = 2n ** 255n - 1n;
/** Timestamps around the median that its average is taken of. */
const MEDIAN_FRAME = 11;

/** Compact bits of a block with this difficulty window: its selected parent's until the window is long enough. */
export function difficultyBits(window: SampledWindow, selectedParent: Block, params: ConsensusParams): number {
  const { sampleRate, minWindowSize } = params.difficulty;
  if (window.blocks.length < minWindowSize) return selectedParent.bits;
  if (window === selectedParent.difficultyWindow) return selectedParent.bits;
  const byTime = window.blocks.toSorted((a, b) => timestamp(a) - timestamp(b));
  const [earliest, ...others] = byTime;
  const latest = others.at(-1);
  if (earliest === undefined || latest === undefined) return selectedParent.bits;
  const count = BigInt(others.length);
  const averageTarget = others.reduce((sum, block) => sum + targetFromBits(block.bits), 0n) / count;
  const duration = BigInt(Math.max(timestamp(latest) - timestamp(earliest), 1));
  const expectedDuration = BigInt(params.targetTimePerBlockMs * sampleRate) * count;
  const target = (averageTarget * duration) / expectedDuration;
  return bitsFromTarget(target < MAX_TARGET ? target : MAX_TARGET);
}

/** Unix milliseconds; not quite the median, but the mean of the middle of the window. */
export function pastMedianTime(window: SampledWindow, selectedParent: Block): number {
  if (window.blocks.length === 0) return timestamp(selectedParent);
  const times = window.blocks.map(timestamp).sort((a, b) => a - b);
  const frame = Math.min(times.length, MEDIAN_FRAME);
  const end = Math.ceil((times.length + frame) / 2);
  const sum = times.slice(end - frame, end).reduce((total, time) => total + time, 0);
  return Math.floor((sum + Math.floor(frame / 2)) / frame);
}

function timestamp(block: Block): number {
  return Number(block.header.timestamp);
}

/** The compact form of a target: a mantissa of 23 bits and a length in bytes. */
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
