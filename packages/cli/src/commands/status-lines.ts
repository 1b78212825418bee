/**
 * The output of `kasgres status` for people: one name and value a line, with bootstrap blocks and
 * gaps as sentences.
 */
import { z } from 'zod';

type Line = readonly [name: string, value: string];

const bootstrapLine = z
  .object({ hash: z.string(), daaScore: z.string(), timestamp: z.number(), utxoCount: z.number() })
  .transform(({ hash, daaScore, timestamp, utxoCount }): Line => {
    const block = `${hash} of ${timeText(timestamp)}, DAA score ${numberText(daaScore)}`;
    const text = utxoCount === 0 ? `genesis ${block}, with no UTXOs` : `${block}, with ${numberText(utxoCount)} UTXOs`;
    return ['bootstrap block', text];
  });

const blueScore = z.string().nullable();
const unixMs = z.number().nullable();

const gapLine = z
  .object({
    afterBlock: z.string(),
    beforeBlock: z.string(),
    reason: z.string(),
    afterBlueScore: blueScore,
    beforeBlueScore: blueScore,
    afterTimestamp: unixMs,
    beforeTimestamp: unixMs,
  })
  .transform((gap): Line => {
    const after = describeBlock(gap.afterBlock, gap.afterBlueScore, gap.afterTimestamp);
    const before = describeBlock(gap.beforeBlock, gap.beforeBlueScore, gap.beforeTimestamp);
    return ['gap', `between block ${after} and block ${before}: ${gap.reason}`];
  });

const loadLines = z
  .object({ pruningPoint: z.string(), utxoCount: z.number() })
  .transform(({ pruningPoint, utxoCount }): Line[] => [
    ['pending bootstrap block', `${pruningPoint}, UTXOs loaded so far: ${numberText(utxoCount)}`],
  ]);

const SENTENCES: Readonly<Record<string, z.ZodType<Line[]>>> = {
  starts: z.array(bootstrapLine),
  gaps: z.array(gapLine).transform((lines) => (lines.length === 0 ? [['gaps', 'none']] : lines)),
  utxoSetLoad: loadLines.or(z.null().transform(() => [])),
  // It is null if responses are read from the primary.
  replicaLagSeconds: z.null().transform(() => []),
};

export function statusLines(status: Record<string, unknown>): string {
  const lines = Object.entries(status).flatMap(
    ([name, value]): Line[] => SENTENCES[name]?.safeParse(value).data ?? [[name, describe(value)]],
  );
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n');
}

function describeBlock(hash: string, score: string | null, timestamp: number | null): string {
  const position = [timestamp !== null && timeText(timestamp), score !== null && `blue score ${numberText(score)}`];
  const known = position.filter(Boolean);
  return known.length === 0 ? hash : `${hash} (${known.join(', ')})`;
}

function numberText(value: string | number): string {
  return BigInt(value).toLocaleString('en-US');
}

function timeText(timestamp: number): string {
  return new Date(timestamp).toISOString();
}

function describe(value: unknown): string {
  if (value === null) return 'unknown';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string | number | boolean}`;
}
