/**
 * What a header says of its proof of work: `bits` is a 256-bit target in the compact form of Bitcoin, difficulty the largest target
 * divided by it, work the number of hashes that a block takes on average. Blue work sums the work of a block's blue past.
 */

const UINT256_BITS = 256;
const MANTISSA_MASK = 0xffffff;
/** The mantissa's highest bit is a sign, and a target is never negative. */
const LARGEST_MANTISSA = 0x7fffff;
const MANTISSA_BYTES = 3;

/** 2^255 − 1 as the node writes it. */
const LARGEST_TARGET = 5.78960446186581e76;

const BLUE_WORK = /^[0-9a-f]{1,48}$/i;

export function targetFromBits(bits: number): bigint {
  const mantissa = bits & MANTISSA_MASK;
  if (mantissa > LARGEST_MANTISSA) return 0n;
  const shiftBytes = (bits >>> 24) - MANTISSA_BYTES;
  if (shiftBytes < 0) return BigInt(mantissa >> (-shiftBytes * 8));
  return BigInt.asUintN(UINT256_BITS, BigInt(mantissa) << BigInt(shiftBytes * 8));
}

/** The number that the node shows, to the last bit; Infinity for a target of zero. */
export function difficultyFromBits(bits: number): number {
  return LARGEST_TARGET / Number(targetFromBits(bits));
}

/** What a block with these bits adds to the blue work of those above it. */
export function workFromBits(bits: number): bigint {
  return (1n << BigInt(UINT256_BITS)) / (targetFromBits(bits) + 1n);
}

/**
 * Reads blue work in hex: as gRPC has it, without leading zeros and so at times of odd length, or filled up to 48 digits.
 * @throws RangeError on anything else
 */
export function parseBlueWork(hex: string): bigint {
  if (!BLUE_WORK.test(hex)) throw new RangeError(`Not a blue work: ${JSON.stringify(hex.slice(0, 80))}`);
  return BigInt(`0x${hex}`);
}

/** Blue work as gRPC has it; zero is `0`. */
export function formatBlueWork(blueWork: bigint): string {
  return blueWork.toString(16);
}
