/** 64-bit integers as JSON numbers. */

declare global {
  interface JSON {
    /** ES2026; the compiler's library does not have it yet. */
    rawJSON(text: string): unknown;
  }
}

/**
 * What JSON.stringify writes as a number with all the digits of `value`. Beyond 2^53 it is no JavaScript number any more, only
 * something to be written.
 */
export function exactNumber(value: bigint): number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : (JSON.rawJSON(String(value)) as number);
}
