/** What `kasgres status` says, in lines for people: a name and a value each, and for where the index begins and what it misses, words. */
import { z } from 'zod';

const blueScore = z.string().nullable();
const unixMs = z.number().nullable();

/** The fields that take more than a value; the same in `/v1/status`. */
const inWords = z.object({
  starts: z.array(z.object({ hash: z.string(), daaScore: z.string(), timestamp: z.number(), utxoCount: z.number() })),
  gaps: z.array(
    z.object({
      afterBlock: z.string(),
      beforeBlock: z.string(),
      reason: z.string(),
      afterBlueScore: blueScore,
      beforeBlueScore: blueScore,
      afterTimestamp: unixMs,
      beforeTimestamp: unixMs,
    }),
  ),
  utxoSetLoad: z.object({ pruningPoint: z.string(), utxoCount: z.number() }).nullable(),
});

type InWords = z.infer<typeof inWords>;
type Line = [name: string, value: string];

export function statusLines(status: Record<string, unknown>): string {
  const words = inWords.partial().safeParse(status).data ?? {};
  const lines = Object.entries(status).flatMap(([name, value]): Line[] => {
    if (name === 'starts' && words.starts) return words.starts.map((start) => ['start', startText(start)]);
    if (name === 'gaps' && words.gaps) return gapLines(words.gaps);
    if (name === 'utxoSetLoad' && words.utxoSetLoad !== undefined) return loadLines(words.utxoSetLoad);
    return [[name, valueText(value)]];
  });
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n');
}

function startText({ hash, daaScore, timestamp, utxoCount }: InWords['starts'][number]): string {
  const block = `block ${hash} of ${timeText(timestamp)}, DAA score ${numberText(daaScore)}`;
  return utxoCount === 0 ? `genesis ${block}, with no UTXOs` : `${block}, with ${numberText(utxoCount)} UTXOs`;
}

function gapLines(gaps: InWords['gaps']): Line[] {
  if (gaps.length === 0) return [['gaps', 'none']];
  return gaps.map((gap) => {
    const after = endText(gap.afterBlock, gap.afterBlueScore, gap.afterTimestamp);
    const before = endText(gap.beforeBlock, gap.beforeBlueScore, gap.beforeTimestamp);
    return ['gap', `between block ${after} and block ${before}: ${gap.reason}`];
  });
}

function endText(hash: string, score: string | null, timestamp: number | null): string {
  const place = [
    ...(timestamp === null ? [] : [timeText(timestamp)]),
    ...(score === null ? [] : [`blue score ${numberText(score)}`]),
  ];
  return place.length === 0 ? hash : `${hash} (${place.join(', ')})`;
}

function loadLines(load: InWords['utxoSetLoad']): Line[] {
  if (load === null) return [];
  return [['coming start', `block ${load.pruningPoint}, UTXOs loaded so far: ${numberText(load.utxoCount)}`]];
}

function numberText(value: string | number): string {
  return BigInt(value).toLocaleString('en-US');
}

function timeText(timestamp: number): string {
  return new Date(timestamp).toISOString();
}

function valueText(value: unknown): string {
  if (value === null) return 'not known';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string | number | boolean}`;
}
