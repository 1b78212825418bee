/** Finds where something begins to hold, with few requests: 1, 2, 4, … and then between. */

/**
 * @param holds once it holds, it does for all that is greater
 * @returns the least of 1 to `max` for which it holds; undefined: none
 */
export async function findLeast(
  max: number,
  holds: (candidate: number) => Promise<boolean>,
): Promise<number | undefined> {
  if (max < 1) return undefined;
  let below = 0;
  let found = 1;
  while (!(await holds(found))) {
    if (found === max) return undefined;
    below = found;
    found = Math.min(2 * found, max);
  }
  while (found - below > 1) {
    const middle = Math.floor((below + found) / 2);
    if (await holds(middle)) found = middle;
    else below = middle;
  }
  return found;
}
