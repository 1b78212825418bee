/** The envelope of every message (the id that pairs a response with its request, 0 for a notification), and the generated decoders. */
import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { AnyOp, RequestOf, ResponseCase, ResponseOf } from './calls.ts';
import { KaspadRequestSchema, KaspadResponseSchema, type RpcError } from './generated/kaspad_pb.ts';
import { varintTag, WireReader } from './wire-reader.ts';
import { NodeProtocolError, NodeRpcError } from './errors.ts';

export interface Envelope {
  id: number;
  /** The field number of the payload in KaspadResponse; undefined when there is none that we could know. */
  field: number | undefined;
  /** The payload message, not parsed yet; a view of the message that it came in. */
  body: Uint8Array;
}

const ID = varintTag(101);
const FIRST_PAYLOAD_FIELD = 1000;
const WIRE_BYTES = 2;
const NO_BODY = new Uint8Array(0);

export function encodeRequest<O extends AnyOp>(id: number, op: O, request: RequestOf<O>): Uint8Array {
  // The compiler cannot see that the case and the value of a generic op belong together; RequestOf says that they do.
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

/** Field number and type of a member of KaspadResponse. */
export function getResponseField(name: ResponseCase): { number: number; message: DescMessage } {
  const field = KaspadResponseSchema.field[name];
  if (field.message === undefined) throw new TypeError(`${name} is no message`);
  return { number: field.number, message: field.message };
}

/** `body` is the response message of the op. Throws NodeRpcError where the node answered with an error. */
export function decodeResponse<O extends AnyOp>(op: O, body: Uint8Array): ResponseOf<O> {
  const response = parseBody(`${op}Response`, body) as { error?: RpcError };
  if (response.error !== undefined) throw new NodeRpcError(op, response.error.message);
  return response as ResponseOf<O>;
}

/** A member of KaspadResponse by its field name. Throws NodeProtocolError. */
export function parseBody(name: ResponseCase, body: Uint8Array): unknown {
  try {
    // Fields that we do not know would be kept as views of the body, which is not ours for long.
    return fromBinary(getResponseField(name).message, body, { readUnknownFields: false });
  } catch (error) {
    throw new NodeProtocolError(`malformed ${name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
