const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** Makes an array of the JSON of items, of which each may be several, separated by commas. */
export const toJsonArray = (items: readonly Buffer[]): Buffer =>
  Buffer.concat([OPEN, ...items.flatMap((item, n) => (n === 0 ? [item] : [COMMA, item])), CLOSE]);
