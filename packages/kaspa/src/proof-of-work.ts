/**
 * Proof of work: `bits` is a 256-bit target in Bitcoin's compact form, difficulty the largest
 * target divided by it, work the average number of hashes per block. Blue work is the sum of the
 * work of a block's blue past.
 */

const UINT256_BITS = 256;
/** The highest bit of the mantissa is a sign, and a target is never negative. */
const LARGEST_MANTISSA = 0x7fffff;

/** The node's literal for 2^255 − 1. */
const LARGEST_TARGET = 5.78960446186581e76;

export function targetFromBits(bits: number): bigint {
  const mantissa = bits & 0xffffff;
  if (mantissa > LARGEST_MANTISSA) return 0n;
  const shiftBytes = (bits >>> 24) - 3;
  if (shiftBytes < 0) return BigInt(mantissa >> (-shiftBytes * 8));
  return BigInt.asUintN(UINT256_BITS, BigInt(mantissa) << BigInt(shiftBytes * 8));
}

/** Returns the node's difficulty to the last bit; Infinity for a target of zero. */
export function difficultyFromBits(bits: number): number {
  return LARGEST_TARGET / Number(targetFromBits(bits));
}

/** Returns what a blue block with these bits adds to blue work. */
export function workFromBits(bits: number): bigint {
  return (1n << BigInt(UINT256_BITS)) / (targetFromBits(bits) + 1n);
}

/**
 * Parses blue work in hex: without leading zeros as in gRPC, possibly of odd length, or padded to
 * 48 digits.
 * @throws RangeError on anything else
 */
export function parseBlueWork(hex: string): bigint {
  if (!/^[0-9a-f]{1,48}$/i.test(hex)) throw new RangeError(`Not a blue work: ${JSON.stringify(hex.slice(0, 80))}`);
  return BigInt(`0x${hex}`);
}

/** Formats blue work as gRPC does; zero is `0`. */
export function formatBlueWork(blueWork: bigint): string {
  return blueWork.toString(16);
}

/** The extremes among the blocks of a window. Timestamps are in milliseconds. */
export interface HashRateWindow {
  minBlueWork: bigint;
  maxBlueWork: bigint;
  minTimestamp: bigint;
  maxTimestamp: bigint;
}

/**
 * The network's hash rate as the node estimates it (rusty-kaspa,
 * consensus/src/processes/difficulty.rs): 64 bits of hashes per second, 0 if the window is shorter
 * than a second.
 */
export function networkHashesPerSecond(window: HashRateWindow): bigint {
  const seconds = (window.maxTimestamp - window.minTimestamp) / 1000n;
  if (seconds === 0n) return 0n;
  return BigInt.asUintN(64, (window.maxBlueWork - window.minBlueWork) / seconds);
}
