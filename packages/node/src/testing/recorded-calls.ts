/**
 * Recorded calls of a real node: an excerpt in this repository, and a whole recording if
 * `RECORDING` names its directory.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Envelope, readEnvelope } from '../envelope.ts';

export interface RecordedCall {
  /** Line in the file and operation, for failure messages. */
  name: string;
  op: string;
  request: unknown;
  response: unknown;
  /** An encoded KaspadRequest. */
  requestRaw: Uint8Array;
  /** An encoded KaspadResponse. */
  raw: Uint8Array;
}

export function recordedFiles(): string[] {
  const small = join(import.meta.dirname, '../recorded/calls.jsonl.gz');
  const whole = process.env['RECORDING'];
  return whole === undefined ? [small] : [small, join(whole, 'calls.jsonl.gz')];
}

export function* readRecordedCalls(path: string): Generator<RecordedCall> {
  const lines = gunzipSync(readFileSync(path)).toString('utf8').trimEnd().split('\n');
  for (const [index, line] of lines.entries()) {
    const call = JSON.parse(line) as {
      op: string;
      request: unknown;
      response: unknown;
      requestRaw: string;
      raw: string;
    };
    // Lines of a recording between its parts are not calls.
    if (call.op === 'checkpoint') continue;
    yield {
      name: `line ${index + 1}, ${call.op}`,
      op: call.op,
      request: call.request,
      response: call.response,
      requestRaw: Buffer.from(call.requestRaw, 'base64'),
      raw: Buffer.from(call.raw, 'base64'),
    };
  }
}

/** Returns the envelopes of the recorded responses to one operation, from the excerpt. */
export function recordedResponses(op: string): Envelope[] {
  return [...readRecordedCalls(recordedFiles()[0] as string)]
    .filter((call) => call.op === op)
    .map(({ raw }) => readEnvelope(raw));
}
