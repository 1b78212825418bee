/**
 * The node of the API of bench/attacks.ts as a separate process: it sends its URL to its parent,
 * and its mempool is what the parent tells it. The listings are encoded beforehand and sent without
 * copies, so that their cost is that of the API. It has a DAG of genesis alone; the indexer follows
 * another node.
 */
import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { protocol } from '@kasgres/node';
import { isNotifyOp, operationOf, responsePayload } from '../packages/devnet/src/rpc/calls.ts';
import { responses } from '../packages/devnet/src/rpc/responses.ts';
import { encodeFrame, FrameReader } from '../packages/node/src/grpc-frames.ts';
import { EncodedMempool, type MempoolKind } from './encoded-mempool.ts';
import { StaticNode } from './static-node.ts';

/** How often the node has listed a mempool. */
export type Listings = Record<MempoolKind | 'of addresses', number>;
export type MempoolCommand = { mempool: MempoolKind } | { count: true };

const RESPONSE_ID = 101;
const PREFIX_BYTES = 5;
const MAX_REQUEST_BYTES = 1024 * 1024;
const LISTINGS = { getMempoolEntries: 1044, getMempoolEntriesByAddresses: 1085 };
/** A request for fewer is that of an honest client. */
const MANY_ADDRESSES = 40;

const state = new StaticNode().state();
const mempool = new EncodedMempool();
const listings: Listings = { few: 0, many: 0, large: 0, 'of addresses': 0 };

const server = createServer();
server.on('stream', (stream: ServerHttp2Stream) => {
  stream.on('error', () => undefined);
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  let served = Promise.resolve();
  const reader = new FrameReader(MAX_REQUEST_BYTES, (message) => {
    const request = fromBinary(protocol.KaspadRequestSchema, Buffer.from(message));
    served = served.then(() => respond(stream, request)).catch(() => void stream.destroy());
  });
  stream.on('data', (chunk: Buffer) => reader.push(chunk));
  stream.on('end', () => stream.end());
});
await once(server.listen(0, '127.0.0.1'), 'listening');
process.send?.(`grpc://127.0.0.1:${(server.address() as AddressInfo).port}`);
process.on('message', (command: MempoolCommand) => {
  if ('mempool' in command) mempool.kind = command.mempool;
  else process.send?.(listings);
});
process.once('disconnect', () => process.exit());

async function respond(stream: ServerHttp2Stream, { id, payload }: protocol.KaspadRequest): Promise<void> {
  if (payload.case === 'getMempoolEntriesRequest') {
    listings[mempool.kind] += 1;
    return await sendListing(stream, id, LISTINGS.getMempoolEntries, mempool.list());
  }
  if (payload.case === 'getMempoolEntriesByAddressesRequest') {
    const { addresses } = payload.value;
    if (addresses.length >= MANY_ADDRESSES) listings['of addresses'] += 1;
    const parts = mempool.listOf(addresses, addresses.length >= MANY_ADDRESSES);
    return await sendListing(stream, id, LISTINGS.getMempoolEntriesByAddresses, parts);
  }
  const op = operationOf(payload);
  if (op === undefined) throw new Error('an empty request');
  const isInfo = payload.case === 'getInfoRequest';
  const value = isNotifyOp(op) ? {} : (responses[op] as (...of: unknown[]) => object)(state, payload.value);
  const complete = isInfo ? { ...value, mempoolSize: BigInt(mempool.size) } : value;
  const response = create(protocol.KaspadResponseSchema, { id, payload: responsePayload(op, complete) });
  stream.write(encodeFrame(toBinary(protocol.KaspadResponseSchema, response)));
}

/** @param parts of the encoded response */
async function sendListing(
  stream: ServerHttp2Stream,
  id: bigint,
  field: number,
  parts: readonly Uint8Array[],
): Promise<void> {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  const head = new BinaryWriter()
    .tag(RESPONSE_ID, WireType.Varint)
    .uint64(id)
    .tag(field, WireType.LengthDelimited)
    .uint32(bytes)
    .finish();
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(head.length + bytes, 1);
  for (const part of [prefix, head, ...parts]) {
    if (stream.destroyed) return;
    if (!stream.write(part)) await untilDrained(stream);
  }
}

/** Also resolves when the stream is closed. */
async function untilDrained(stream: ServerHttp2Stream): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const settle = (): void => {
    stream.off('drain', settle).off('close', settle);
    resolve();
  };
  stream.on('drain', settle).on('close', settle);
  await promise;
}
