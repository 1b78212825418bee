/**
 * Numbers in JSON with all their digits: a block template has 64-bit numbers (sequence, lock time),
 * which come back with the block, and what others wrote on the chain is shown as it is.
 *
 * In requests, each long integer becomes a marked string before the text is parsed, with a mark
 * that no client can guess; schemas of such numbers remove it. A reviver of JSON.parse would take
 * fifty times as long.
 */
import { randomUUID } from 'node:crypto';

declare global {
  interface JSON {
    /** ES2026; the compiler's library does not have it yet, and Node 20 has none. */
    rawJSON?: (text: string) => unknown;
  }
}

const MARK = `${randomUUID()}:`;

/**
 * Makes `toRaw`, which returns a value for a number, and `stringify`, which writes it as the number
 * is given.
 */
export function rawNumbers(rawJSON: JSON['rawJSON']) {
  if (rawJSON !== undefined) return { toRaw: rawJSON, stringify: (value: unknown) => JSON.stringify(value) };
  const marked = new RegExp(`"${MARK}([^"]*)"`, 'g');
  return {
    toRaw: (text: string): unknown => `${MARK}${text}`,
    stringify: (value: unknown): string => JSON.stringify(value).replaceAll(marked, '$1'),
  };
}

const { toRaw, stringify } = rawNumbers(JSON.rawJSON);

/** Gives the result of JSON.stringify, with the digits of exact numbers. */
export const stringifyExact = stringify;

/**
 * Returns what `stringifyExact` writes as a number with all digits of `value`. Beyond 2^53 the
 * result can only be serialized.
 */
export function exactNumber(value: bigint): number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : (toRaw(String(value)) as number);
}

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

/** A string or a number of a text that is JSON. */
const STRING_OR_NUMBER = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;
/** Every decimal number of so many digits, without an exponent, is the only one of its double. */
const EXACT_DIGITS = 15;
/** Each takes some microseconds. */
const MAX_RAW_NUMBERS = 256;

/**
 * Parses as JSON.parse does, for a value that is only serialized: `stringifyExact` writes numbers
 * that a double does not hold as they are in the text, such as `1e400` and 20 digits. Throws a
 * RangeError if there are many. The depth must be bounded.
 */
export function parseExactNumbers(text: string): unknown {
  const value: unknown = JSON.parse(text);
  let found = 0;
  const marked = text.replace(STRING_OR_NUMBER, (token) => {
    if (token.startsWith('"') || isDouble(token)) return token;
    found += 1;
    if (found > MAX_RAW_NUMBERS) throw new RangeError('The text has too many numbers that a double does not hold');
    return `"${MARK}${token}"`;
  });
  return found === 0 ? value : withRawNumbers(JSON.parse(marked));
}

/** Whether a double keeps all digits of a number. */
function isDouble(token: string): boolean {
  const [mantissa = '', exponent] = token.split(/[eE]/);
  if (exponent === undefined && mantissa.length <= EXACT_DIGITS) return true;
  const value = Number(token);
  const digits = mantissa.replaceAll(/[-.]/g, '').replaceAll(/^0+|0+$/g, '');
  if (digits === '') return true;
  const isNormal = Math.abs(value) >= 1e-300 && Math.abs(value) < Infinity;
  return isNormal && (digits.length <= EXACT_DIGITS || String(value) === token);
}

function withRawNumbers(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? toRaw(withoutMark(value)) : value;
  if (Array.isArray(value)) return value.map(withRawNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withRawNumbers(member)]));
}
