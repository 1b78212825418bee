/** Looking through the text of JSON before it is parsed, in time that grows with its length and no faster. */

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;

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
