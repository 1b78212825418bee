/**
 * Reads and writes the envelope of messages: an id, which pairs a response with its request and is
 * 0 for notifications, and a payload.
 */
import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { AnyOp, RequestOf, ResponseCase, ResponseOf } from './calls.ts';
import { KaspadRequestSchema, KaspadResponseSchema, type RpcError } from './generated/kaspad_pb.ts';
import { varintTag, WireReader } from './wire-reader.ts';
import { NodeProtocolError, NodeRpcError } from './errors.ts';

export interface Envelope {
  id: number;
  /** Field number of the payload in KaspadResponse; undefined if there is no payload. */
  field: number | undefined;
  /** The encoded payload, a view of the received message. */
  body: Uint8Array;
}

const ID = varintTag(101);
const FIRST_PAYLOAD_FIELD = 1000;
const WIRE_BYTES = 2;
const NO_BODY = new Uint8Array(0);

export function encodeRequest<O extends AnyOp>(id: number, op: O, request: RequestOf<O>): Uint8Array {
  // The compiler cannot relate the case to the value of a generic op. RequestOf does.
  const payload = { case: `${op}Request`, value: request } as never;
  return toBinary(KaspadRequestSchema, create(KaspadRequestSchema, { id: BigInt(id), payload }));
}

/** Throws NodeProtocolError. */
export function readEnvelope(message: Uint8Array): Envelope {
  const reader = new WireReader(message);
  const envelope: Envelope = { id: 0, field: undefined, body: NO_BODY };
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ID) envelope.id = Number(reader.uint64());
    else if ((tag & 7) === WIRE_BYTES && tag >>> 3 >= FIRST_PAYLOAD_FIELD) {
      const length = reader.length();
      envelope.field = tag >>> 3;
      envelope.body = message.subarray(reader.position, reader.position + length);
      reader.position += length;
    } else reader.skip(tag);
  }
  reader.leave(message.length);
  return envelope;
}

/** Returns field number and type of a member of KaspadResponse. */
export function getResponseField(name: ResponseCase): { number: number; message: DescMessage } {
  const field = KaspadResponseSchema.field[name];
  if (field.message === undefined) throw new TypeError(`${name} is not a message`);
  return { number: field.number, message: field.message };
}

/**
 * Decodes the response message of `op`. Throws NodeRpcError if it contains an error, or
 * NodeProtocolError.
 */
export function decodeResponse<O extends AnyOp>(op: O, body: Uint8Array): ResponseOf<O> {
  const response = parseBody(`${op}Response`, body) as { error?: RpcError };
  if (response.error !== undefined) throw new NodeRpcError(op, response.error.message);
  return response as ResponseOf<O>;
}

/** Decodes a member of KaspadResponse. Throws NodeProtocolError. */
export function parseBody(name: ResponseCase, body: Uint8Array): unknown {
  try {
    // Unknown fields would be views of the body, whose buffer is reused.
    return fromBinary(getResponseField(name).message, body, { readUnknownFields: false });
  } catch (error) {
    throw new NodeProtocolError(`malformed ${name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
