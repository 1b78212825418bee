/**
 * Reads a directory of recorded node traffic: the calls of one scenario by checkpoint (a state in
 * which the node was at rest), and the expected result at its end.
 */
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip } from 'node:zlib';
import { type DescMessage, fromBinary, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type Op, protocol } from '@kasgres/node';
import type { Oracle } from './expected-result.ts';

/** The directory in RECORDING; by default the small recording that is committed. */
export const recordingDirectory: string = process.env['RECORDING'] ?? path.join(import.meta.dirname, 'recorded');

export interface RecordedCall {
  /** Operations that our protocol lacks have empty payloads. */
  op: string;
  request: protocol.KaspadRequest;
  response: protocol.KaspadResponse;
}

export interface Checkpoint {
  name: string;
  calls: RecordedCall[];
}

export interface Recording {
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
  /** The messages as JSON, and in base64, which a recording may leave out. */
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
  return { checkpoints };
}

export interface Expected extends Oracle {
  network: string;
  coinbaseMaturity: number;
  /** Ids of the cases that the scenario created on purpose, by kind. */
  special: Record<string, unknown>;
}

/** Returns undefined if the recording has no expected.json. */
export async function findExpected(directory: string): Promise<Expected | undefined> {
  const file = path.join(directory, 'expected.json');
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Expected) : undefined;
}

/** Returns the calls of one operation at a checkpoint, without errors. */
export function exchanges<O extends Op>(checkpoint: Checkpoint, op: O): Exchange<O>[] {
  return allExchanges(checkpoint, op).filter(({ response }) => (response as { error?: unknown }).error === undefined);
}

function allExchanges<O extends Op>(checkpoint: Checkpoint, op: O): Exchange<O>[] {
  return checkpoint.calls.flatMap((call) => {
    if (call.request.payload.case !== `${op}Request` || call.response.payload.case !== `${op}Response`) return [];
    return [
      { request: call.request.payload.value as Request<O>, response: call.response.payload.value as Response<O> },
    ];
  });
}

/**
 * Returns the different requests of one operation at a checkpoint, also those with an error as
 * response.
 */
export function distinctRequests<O extends Op>(checkpoint: Checkpoint, op: O): Exchange<O>['request'][] {
  const distinct: Exchange<O>['request'][] = [];
  for (const { request } of allExchanges(checkpoint, op)) {
    if (!distinct.some((known) => isDeepStrictEqual(known, request))) distinct.push(request);
  }
  return distinct;
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
