/**
 * Whole numbers in JSON with all their digits: a block template has 64-bit numbers (sequence, lock time), which come back with the block.
 *
 * In requests, each long integer becomes a marked string before the text is parsed, with a mark that no client can guess; schemas of such
 * numbers remove it. A reviver of JSON.parse would take fifty times as long.
 */
import { randomUUID } from 'node:crypto';
import { findEndOfString, isBeforeColon, QUOTE } from './json-text.ts';

declare global {
  interface JSON {
    /** ES2026; the compiler's library does not have it yet. */
    rawJSON(text: string): unknown;
  }
}

/** Returns what JSON.stringify writes as a number with all digits of `value`. Beyond 2^53 the result can only be serialized. */
export function exactNumber(value: bigint): number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : (JSON.rawJSON(String(value)) as number);
}

const MARK = `${randomUUID()}:`;

/** A double may not hold all digits of an integer of this length. */
const LONG_DIGITS = 16;
const LONG_INTEGER = /^[1-9]\d+$/;

const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const NUMBER_CHARACTERS = new Set(Array.from('0123456789.eE+-', (character) => character.charCodeAt(0)));

/** Returns the text with its long integers as marked strings. Text that is not JSON stays invalid. */
export function markExactIntegers(text: string): string {
  const pieces: string[] = [];
  let copied = 0;
  let index = 0;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = findEndOfString(text, index);
      if (end === -1) break;
      index = end + 1;
    } else if ((code >= DIGIT_0 && code <= DIGIT_9) || code === MINUS) {
      const end = findEndOfNumber(text, index);
      if (isLongInteger(text, index, end)) {
        pieces.push(text.slice(copied, index), `"${MARK}${text.slice(index, end)}"`);
        copied = end;
      }
      index = end;
    } else {
      index += 1;
    }
  }
  return copied === 0 ? text : pieces.join('') + text.slice(copied);
}

function findEndOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (NUMBER_CHARACTERS.has(text.charCodeAt(end))) end += 1;
  return end;
}

/** A number in place of a member name is malformed, and must stay so. */
function isLongInteger(text: string, start: number, end: number): boolean {
  return end - start >= LONG_DIGITS && LONG_INTEGER.test(text.slice(start, end)) && !isBeforeColon(text, end);
}

/** Returns the digits of a marked number, and any other text unchanged. */
export const withoutMark = (text: string): string => (text.startsWith(MARK) ? text.slice(MARK.length) : text);
