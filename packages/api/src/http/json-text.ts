/** Scans JSON text before it is parsed, in linear time. Regular expressions take quadratic time for strings that do not end. */

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const WHITESPACE = new Set([0x20, 0x0a, 0x0d, 0x09]);

/** Returns the index of the quote that ends the string which begins at `start`, or -1 if the string does not end. */
export function findEndOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** A character after an odd number of backslashes is escaped. Each run of backslashes is before one quote only. */
function isEscaped(text: string, index: number): boolean {
  let before = index - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (index - before) % 2 === 0;
}

/** Returns whether the next character from `index` on that is no whitespace is a colon, so that the token before it is a member name. */
export function isBeforeColon(text: string, index: number): boolean {
  let next = index;
  while (WHITESPACE.has(text.charCodeAt(next))) next += 1;
  return text.charCodeAt(next) === COLON;
}
