/** @param output of one run of bench/sync.ts: JSON, or the text of commits that have no --json */
export function parseCatchUpSeconds(output: string): number {
  const text = /^node to commit\s+([\d.]+) s/m.exec(output)?.[1];
  const seconds = text === undefined ? findMedian(output, 'catchUpSeconds') : Number(text);
  if (seconds === undefined) throw new Error(`the output of bench/sync.ts has no time of a catch-up:\n${output}`);
  return seconds;
}

/**
 * @param output of one run of bench/tip.ts --json
 * @returns milliseconds from a notification to the response, the median
 */
export function parseTipMs(output: string): number {
  const ms = findMedian(output, 'latencyP50Ms');
  if (ms === undefined) throw new Error(`the output of bench/tip.ts has no time of a response:\n${output}`);
  return ms;
}

function findMedian(output: string, name: string): number | undefined {
  try {
    const { medians } = JSON.parse(output) as { medians?: Record<string, number | undefined> };
    return medians?.[name];
  } catch {
    return undefined;
  }
}
