/**
 * Whole numbers in JSON with all their digits: a block template has 64-bit numbers (sequence, lock
 * time), which come back with the block.
 *
 * In requests, each long integer becomes a marked string before the text is parsed, with a mark
 * that no client can guess; schemas of such numbers remove it. A reviver of JSON.parse would take
 * fifty times as long.
 */
import { randomUUID } from 'node:crypto';

declare global {
  interface JSON {
    /** ES2026; the compiler's library does not have it yet. */
    rawJSON(text: string): unknown;
  }
}

/**
 * Returns what JSON.stringify writes as a number with all digits of `value`. Beyond 2^53 the result
 * can only be serialized.
 */
export function exactNumber(value: bigint): number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : (JSON.rawJSON(String(value)) as number);
}

const MARK = `${randomUUID()}:`;

/**
 * A string, or an integer with more digits than a double may hold. The part of a string cannot
 * fail, even if the string does not end, so the time is linear. A number in place of a member name
 * is malformed, and must stay so.
 */
const STRING_OR_LONG_INTEGER = /"(?:[^"\\]+|\\[^])*"?|(?<![\d.eE+-])[1-9]\d{15,}(?![\d.eE+-]|\s*:)/g;

/**
 * Returns the text with its long integers as marked strings. Text that is not JSON stays invalid.
 */
export const markExactIntegers = (text: string): string =>
  text.replace(STRING_OR_LONG_INTEGER, (token) => (token.startsWith('"') ? token : `"${MARK}${token}"`));

/** Returns the digits of a marked number, and any other text unchanged. */
export const withoutMark = (text: string): string => (text.startsWith(MARK) ? text.slice(MARK.length) : text);
