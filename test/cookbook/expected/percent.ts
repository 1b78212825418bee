/** Shares of a whole, in hundredths. */
export const percentOf = (part: number | bigint, whole: number | bigint): number =>
  (100 * Number(part)) / Number(whole);
