/**
 * Messages of the p2p stream. Chunks of the UTXO set stay encoded, since they are decoded by hand.
 * Other messages are decoded only if they are wanted and short, since a few bytes of a repeated
 * field become an object each.
 */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { NodeProtocolError } from '../errors.ts';
import { type PeerMessage, PeerMessageSchema } from '../generated/p2p_pb.ts';
import { bytesTag, WireReader } from '../wire-reader.ts';

export type PeerPayload = NonNullable<MessageInitShape<typeof PeerMessageSchema>['payload']>;

type Received = PeerMessage['payload'];

const CHUNK = 'pruningPointUtxoSetChunk';
const CHUNK_TAG = tagOf(CHUNK);
const WANTED = [
  'requestAddresses',
  'ping',
  'version',
  'reject',
  'unexpectedPruningPoint',
  'donePruningPointUtxoSetChunks',
  'ready',
] as const;
const WANTED_TAGS: ReadonlySet<number> = new Set(WANTED.map(tagOf));
/** Those of kaspad have at most some hundred bytes. */
const WANTED_BYTES = 64 * 1024;

type Wanted = (typeof WANTED)[number];

/** `chunk` is a separate copy. */
export type ReceivedPayload = Extract<Received, { case: Wanted }> | { case: typeof CHUNK; chunk: Uint8Array };

export function encodePeerMessage(payload: PeerPayload): Uint8Array {
  return toBinary(PeerMessageSchema, create(PeerMessageSchema, { payload }));
}

/** Returns undefined for a message that is not wanted. Throws NodeProtocolError. */
export function readPeerMessage(message: Uint8Array): ReceivedPayload | undefined {
  const found = findPayload(message);
  if (found === undefined) return undefined;
  if (found.tag === CHUNK_TAG) return { case: CHUNK, chunk: new Uint8Array(found.view) };
  if (message.length > WANTED_BYTES) {
    throw new NodeProtocolError(`a message of a peer has ${message.length} bytes instead of at most ${WANTED_BYTES}`);
  }
  try {
    return fromBinary(PeerMessageSchema, message, { readUnknownFields: false }).payload as ReceivedPayload;
  } catch (error) {
    throw new NodeProtocolError(`malformed message of a peer: ${String(error)}`, { cause: error });
  }
}

/** Returns the last wanted payload, as protobuf specifies for several. */
function findPayload(message: Uint8Array): { tag: number; view: Uint8Array } | undefined {
  const reader = new WireReader(message);
  let found: { tag: number; view: Uint8Array } | undefined;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === CHUNK_TAG || WANTED_TAGS.has(tag)) found = { tag, view: reader.view() };
    else reader.skip(tag);
  }
  reader.leave(message.length);
  return found;
}

function tagOf(name: keyof typeof PeerMessageSchema.field): number {
  return bytesTag(PeerMessageSchema.field[name].number);
}
