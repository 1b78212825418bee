/**
 * Reads a directory of recorded node traffic: the calls of one scenario by checkpoint (each a quiet state of the node), and
 * what is true at its end. Only the raw messages are used; the JSON beside them in the file is for people.
 */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { type Op, protocol } from '@kasgres/node';

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
    } else if (line.raw !== undefined && line.requestRaw !== undefined) {
      checkpoints.at(-1)?.calls.push(readCall(line.op, line.requestRaw, line.raw));
    }
  }
  return { directory, checkpoints };
}

/** The truth at the end of the scenario. */
export interface Expected {
  network: string;
  coinbaseMaturity: number;
  genesis: string;
  finalSink: string;
  finalSinkBlueScore: number;
  circulatingSupply: { atSink: string; inNonStandardScriptsAtSink: string };
  /** Genesis is not in it. */
  chainBlocks: string[];
  acceptedTxToAcceptingBlock: Record<string, string>;
  minedButNotAcceptedTxs: string[];
  /** Only ids in several blocks. */
  txToContainingBlocks: Record<string, string[]>;
  reorgs: {
    checkpoint: string;
    fromSink: string;
    toSink: string;
    depth: number;
    removed: string[];
    added: string[];
    txsUnaccepted: string[];
    coinbasesUnaccepted: string[];
    txsMoved: { tx: string; from: string; to: string }[];
  }[];
  unacceptedByReorgs: string[];
  balances: Record<string, { atSink: string; atVirtual: string; txCountAtSink: number }>;
  utxoCountAtSink: number;
  special: Record<string, unknown>;
  checkpoints: { name: string; sink: string }[];
  counts: Record<string, unknown>;
}

export async function readExpected(directory: string): Promise<Expected> {
  return JSON.parse(await readFile(path.join(directory, 'expected.json'), 'utf8')) as Expected;
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

function readCall(op: string, requestRaw: string, raw: string): RecordedCall {
  return {
    op,

    request: fromBinary(protocol.KaspadRequestSchema, Buffer.from(requestRaw, 'base64')),
    response: fromBinary(protocol.KaspadResponseSchema, Buffer.from(raw, 'base64')),
  };
}
