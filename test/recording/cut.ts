/**
 * Cuts the committed recording out of a large one: `node test/recording/cut.ts SOURCE
 * LAST_CHECKPOINT TARGET`. It keeps the calls up to a checkpoint, as JSON only, without long
 * responses that repeat others, and without expected.json, which follows from the calls.
 */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip, gzipSync } from 'node:zlib';

const LONG_RESPONSE_CHARACTERS = 34_000;

interface Line {
  cp: string;
  op: string;
  response?: { acceptedTransactionIds?: { acceptingBlockHash: string }[] };
}

async function cut(source: string, lastCheckpoint: string): Promise<string[]> {
  const kept: string[] = [];
  const acceptingBlocks = new Set<string>();
  let isPastLast = false;
  const file = createReadStream(path.join(source, 'calls.jsonl.gz')).pipe(createGunzip());
  for await (const text of createInterface({ input: file })) {
    const line = JSON.parse(text) as Line;
    if (isPastLast && line.cp !== lastCheckpoint) break;
    isPastLast = line.cp === lastCheckpoint;
    const chainBlocks =
      line.response?.acceptedTransactionIds?.map(({ acceptingBlockHash }) => acceptingBlockHash) ?? [];
    const isNew = chainBlocks.filter((hash) => !acceptingBlocks.has(hash)).length > chainBlocks.length / 2;
    const isLong = JSON.stringify(line.response ?? '').length > LONG_RESPONSE_CHARACTERS;
    if (isLong && line.op !== 'getBlocks' && !isNew) continue;
    for (const hash of chainBlocks) acceptingBlocks.add(hash);
    kept.push(JSON.stringify({ ...line, raw: undefined, requestRaw: undefined }));
  }
  return kept;
}

const [source, lastCheckpoint, target] = process.argv.slice(2);
if (source === undefined || lastCheckpoint === undefined || target === undefined) {
  throw new Error('usage: node test/recording/cut.ts SOURCE LAST_CHECKPOINT TARGET');
}
const lines = await cut(source, lastCheckpoint);
await writeFile(path.join(target, 'calls.jsonl.gz'), gzipSync(`${lines.join('\n')}\n`, { level: 9 }));
