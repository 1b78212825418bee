/**
 * Reads a directory of recorded node traffic: the calls of one scenario by checkpoint (each a quiet state of the node), and
 * what is true at its end.
 */
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { type DescMessage, fromBinary, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type Op, protocol } from '@kasgres/node';
import type { Oracle } from './oracle.ts';

export interface RecordedCall {
  /** As recorded: also operations that our protocol does not have, whose payloads are then empty. */
  op: string;
  request: protocol.KaspadRequest;
  response: protocol.KaspadResponse;
}

export interface Checkpoint {
  name: string;
  calls: RecordedCall[];
}

export interface Recording {
  directory: string;
  /** In the order of recording. */
  checkpoints: Checkpoint[];
}

type Request<O extends Op> = Extract<protocol.KaspadRequest['payload'], { case: `${O}Request` }>['value'];
type Response<O extends Op> = Extract<protocol.KaspadResponse['payload'], { case: `${O}Response` }>['value'];

export interface Exchange<O extends Op> {
  request: Request<O>;
  response: Response<O>;
}

interface Line {
  cp: string;
  op: string;
  /** The messages as JSON, and whole in base64; a recording may leave out the latter. */
  request?: JsonValue;
  response?: JsonValue;
  requestRaw?: string;
  raw?: string;
}

export async function readRecording(directory: string): Promise<Recording> {
  const checkpoints: Checkpoint[] = [];
  const file = createReadStream(path.join(directory, 'calls.jsonl.gz')).pipe(createGunzip());
  for await (const text of createInterface({ input: file })) {
    const line = JSON.parse(text) as Line;
    if (line.op === 'checkpoint') {
      checkpoints.push({ name: line.cp, calls: [] });
    } else {
      checkpoints.at(-1)?.calls.push(readCall(line));
    }
  }
  return { directory, checkpoints };
}

/** What `expected.json` has beside the truth that follows from the calls. */
export interface Expected extends Oracle {
  coinbaseMaturity: number;
  /** Ids of what the scenario did on purpose, by kind. */
  special: Record<string, unknown>;
}

/** Undefined: the recording has none. */
export async function findExpected(directory: string): Promise<Expected | undefined> {
  const file = path.join(directory, 'expected.json');
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Expected) : undefined;
}

/** The calls of one operation at a checkpoint, without those that were answered with an error. */
export function exchanges<O extends Op>(checkpoint: Checkpoint, op: O): Exchange<O>[] {
  return allExchanges(checkpoint, op).filter(({ response }) => (response as { error?: unknown }).error === undefined);
}

export function allExchanges<O extends Op>(checkpoint: Checkpoint, op: O): Exchange<O>[] {
  return checkpoint.calls.flatMap((call) => {
    if (call.request.payload.case !== `${op}Request` || call.response.payload.case !== `${op}Response`) return [];
    return [
      { request: call.request.payload.value as Request<O>, response: call.response.payload.value as Response<O> },
    ];
  });
}

function readCall({ op, request, response, requestRaw, raw }: Line): RecordedCall {
  return {
    op,
    request: readMessage(protocol.KaspadRequestSchema, requestRaw, { [`${op}Request`]: request ?? {} }),
    response: readMessage(protocol.KaspadResponseSchema, raw, { [`${op}Response`]: response ?? {} }),
  };
}

function readMessage<Schema extends DescMessage>(schema: Schema, raw: string | undefined, json: JsonValue) {
  if (raw !== undefined) return fromBinary(schema, Buffer.from(raw, 'base64'));
  return fromJson(schema, json, { ignoreUnknownFields: true });
}
