/** @param output of one run of bench/sync.ts: JSON, or the text of commits that have no --json */
export function parseCatchUpSeconds(output: string): number {
  const text = /^node to commit\s+([\d.]+) s/m.exec(output)?.[1];
  const seconds = text === undefined ? findInJson(output) : Number(text);
  if (seconds === undefined) throw new Error(`the output of bench/sync.ts has no time of a catch-up:\n${output}`);
  return seconds;
}

function findInJson(output: string): number | undefined {
  try {
    const { medians } = JSON.parse(output) as { medians?: { catchUpSeconds?: number } };
    return medians?.catchUpSeconds;
  } catch {
    return undefined;
  }
}
