/**
 * Whole numbers in JSON that keep all their digits: a block template has 64-bit numbers (sequence, lock time), and they come back with the
 * block. Before it is parsed, each of them becomes a string with a mark that no client can know; schemas of such numbers take it off.
 * A reviver of JSON.parse would do the same, at fifty times the cost. The text is scanned by hand: a regular expression that matches
 * strings takes quadratic time if one does not end.
 */
import { randomUUID } from 'node:crypto';
import { findEndOfString, QUOTE } from './json-text.ts';

const MARK = `${randomUUID()}:`;

/** A number of so many digits may lose some of them in a double. */
const LONG_DIGITS = 16;
const LONG_INTEGER = /^[1-9]\d+$/;

const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const NUMBER_CHARACTERS = new Set(Array.from('0123456789.eE+-', (character) => character.charCodeAt(0)));

/** Returns the text with its long integers as marked strings. A text that is not JSON may come back unchanged, and is still not JSON. */
export function markExactIntegers(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  let index = 0;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = findEndOfString(text, index);
      if (end === -1) break;
      index = end + 1;
    } else if (isStartOfNumber(code)) {
      const end = findEndOfNumber(text, index);
      if (isLongInteger(text, index, end)) {
        parts.push(text.slice(copied, index), `"${MARK}${text.slice(index, end)}"`);
        copied = end;
      }
      index = end;
    } else {
      index += 1;
    }
  }
  return copied === 0 ? text : parts.join('') + text.slice(copied);
}

const isStartOfNumber = (code: number): boolean => (code >= DIGIT_0 && code <= DIGIT_9) || code === MINUS;

function findEndOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (NUMBER_CHARACTERS.has(text.charCodeAt(end))) end += 1;
  return end;
}

function isLongInteger(text: string, start: number, end: number): boolean {
  return end - start >= LONG_DIGITS && LONG_INTEGER.test(text.slice(start, end)) && !isFollowedByColon(text, end);
}

/** A number where the name of a member should be is malformed, and must stay so. */
function isFollowedByColon(text: string, index: number): boolean {
  let next = index;
  while (text[next] === ' ' || text[next] === '\n' || text[next] === '\r' || text[next] === '\t') next += 1;
  return text[next] === ':';
}

/** The digits of a marked number; any other text as it is. */
export const withoutMark = (text: string): string => (text.startsWith(MARK) ? text.slice(MARK.length) : text);
