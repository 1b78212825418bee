/**
 * The checksum of an address: CashAddr's 40-bit cyclic code over the prefix and the base-32 digits,
 * computed in two halves of 20 bits. With bigints it would take longer than the rest of the
 * address.
 */

export const CHECKSUM_DIGITS = 8;

interface Code {
  high: number;
  low: number;
}

/** The generator's five constants, one per bit that is shifted out at the top. */
const GENERATOR: readonly Code[] = [
  { high: 0x98f2b, low: 0xc8e61 },
  { high: 0x79b76, low: 0xd99e2 },
  { high: 0xf33e5, low: 0xfb3c4 },
  { high: 0xae2ea, low: 0xbe2a8 },
  { high: 0x1e4f4, low: 0x3e470 },
];
/** Sums of these for all 32 values of the five bits. */
const GENERATOR_HIGH = Int32Array.from({ length: 32 }, (_, bits) => sumOfGenerators(bits, 'high'));
const GENERATOR_LOW = Int32Array.from({ length: 32 }, (_, bits) => sumOfGenerators(bits, 'low'));

function sumOfGenerators(bits: number, half: keyof Code): number {
  return GENERATOR.reduce((sum, code, bit) => ((bits >> bit) & 1 ? sum ^ code[half] : sum), 0);
}

function add(code: Code, digit: number): void {
  const top = code.high >> 15;
  code.high = (((code.high & 0x7fff) << 5) | (code.low >> 15)) ^ (GENERATOR_HIGH[top] ?? 0);
  code.low = (((code.low & 0x7fff) << 5) | digit) ^ (GENERATOR_LOW[top] ?? 0);
}

const codesOfPrefixes = new Map<string, Code>();

/** Returns the code after the prefix and its terminating zero. */
function codeOfPrefix(prefix: string): Code {
  let code = codesOfPrefixes.get(prefix);
  if (code === undefined) {
    code = { high: 0, low: 1 };
    for (const character of Buffer.from(prefix)) add(code, character & 31);
    add(code, 0);
    codesOfPrefixes.set(prefix, code);
  }
  return code;
}

/** Writes the checksum of the first `count` digits after them. */
export function writeChecksum(prefix: string, digits: Uint8Array, count: number): void {
  const code = { ...codeOfPrefix(prefix) };
  for (let index = 0; index < count; index++) add(code, digits[index] ?? 0);
  for (let index = 0; index < CHECKSUM_DIGITS; index++) add(code, 0);
  code.low ^= 1;
  for (let index = 0; index < 4; index++) {
    digits[count + index] = (code.high >> (15 - 5 * index)) & 31;
    digits[count + 4 + index] = (code.low >> (15 - 5 * index)) & 31;
  }
}
