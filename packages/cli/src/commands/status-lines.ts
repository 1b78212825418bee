/** The output of `kasgres status` for people: one name and value a line, with bootstrap blocks and gaps as sentences. */
import { z } from 'zod';

const blueScore = z.string().nullable();
const unixMs = z.number().nullable();

/** The fields that are printed as sentences, as in `/v1/status`. */
const structured = z.object({
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

type Structured = z.infer<typeof structured>;
type Line = [name: string, value: string];

export function statusLines(status: Record<string, unknown>): string {
  const { starts, gaps, utxoSetLoad } = structured.partial().safeParse(status).data ?? {};
  const lines = Object.entries(status).flatMap(([name, value]): Line[] => {
    if (name === 'starts' && starts) return starts.map((start) => ['bootstrap block', describeBootstrap(start)]);
    if (name === 'gaps' && gaps) return gapLines(gaps);
    if (name === 'utxoSetLoad' && utxoSetLoad !== undefined) return loadLines(utxoSetLoad);
    return [[name, describe(value)]];
  });
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n');
}

function describeBootstrap({ hash, daaScore, timestamp, utxoCount }: Structured['starts'][number]): string {
  const block = `${hash} of ${timeText(timestamp)}, DAA score ${numberText(daaScore)}`;
  return utxoCount === 0 ? `genesis ${block}, with no UTXOs` : `${block}, with ${numberText(utxoCount)} UTXOs`;
}

function gapLines(gaps: Structured['gaps']): Line[] {
  if (gaps.length === 0) return [['gaps', 'none']];
  return gaps.map((gap) => {
    const after = describeBlock(gap.afterBlock, gap.afterBlueScore, gap.afterTimestamp);
    const before = describeBlock(gap.beforeBlock, gap.beforeBlueScore, gap.beforeTimestamp);
    return ['gap', `between block ${after} and block ${before}: ${gap.reason}`];
  });
}

function describeBlock(hash: string, score: string | null, timestamp: number | null): string {
  const position = [
    ...(timestamp === null ? [] : [timeText(timestamp)]),
    ...(score === null ? [] : [`blue score ${numberText(score)}`]),
  ];
  return position.length === 0 ? hash : `${hash} (${position.join(', ')})`;
}

function loadLines(load: Structured['utxoSetLoad']): Line[] {
  if (load === null) return [];
  const text = `${load.pruningPoint}, UTXOs loaded so far: ${numberText(load.utxoCount)}`;
  return [['pending bootstrap block', text]];
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
