/** Messages of the p2p stream. Chunks of the UTXO set stay encoded, since they are decoded by hand. */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { NodeProtocolError } from '../errors.ts';
import { type PeerMessage, PeerMessageSchema } from '../generated/p2p_pb.ts';
import { bytesTag, WireReader } from '../wire-reader.ts';

export type PeerPayload = NonNullable<MessageInitShape<typeof PeerMessageSchema>['payload']>;

type Received = PeerMessage['payload'];

const CHUNK = 'pruningPointUtxoSetChunk';
const CHUNK_TAG = bytesTag(PeerMessageSchema.field[CHUNK].number);

/** `chunk` is a separate copy. */
export type ReceivedPayload = Exclude<Received, { case: typeof CHUNK }> | { case: typeof CHUNK; chunk: Uint8Array };

export function encodePeerMessage(payload: PeerPayload): Uint8Array {
  return toBinary(PeerMessageSchema, create(PeerMessageSchema, { payload }));
}

/** Returns a payload without a case for an unknown message. Throws NodeProtocolError. */
export function readPeerMessage(message: Uint8Array): ReceivedPayload {
  const chunk = findChunk(message);
  if (chunk !== undefined) return { case: CHUNK, chunk };
  try {
    return fromBinary(PeerMessageSchema, message).payload as ReceivedPayload;
  } catch (error) {
    throw new NodeProtocolError(`malformed message of a peer: ${String(error)}`, { cause: error });
  }
}

function findChunk(message: Uint8Array): Uint8Array | undefined {
  const reader = new WireReader(message);
  let chunk: Uint8Array | undefined;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === CHUNK_TAG) chunk = new Uint8Array(reader.view());
    else reader.skip(tag);
  }
  reader.leave(message.length);
  return chunk;
}
