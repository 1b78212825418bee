/**
 * Peers that try to hold a download, or to fill the memory or the disk of the one who downloads.
 */
import { once } from 'node:events';
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { expect, onTestFinished, test } from 'vitest';
import { NodeProtocolError, NodeUnavailableError, NodeUnsuitableError, PeerRejectedError } from '../errors.ts';
import { PeerMessageSchema, type UtxoSetItemSchema } from '../generated/p2p_pb.ts';
import { encodeFrame } from '../grpc-frames.ts';
import { encodePeerMessage, type PeerPayload } from './peer-message.ts';
import { readUtxoSet, type UtxoSetOptions } from './read-utxo-set.ts';

const PRUNING_POINT = Buffer.alloc(32, 7);
const VERSION: PeerPayload = { case: 'version', value: { protocolVersion: 11, network: 'kaspa-simnet' } };
const READY: PeerPayload = { case: 'ready', value: {} };
const PING: PeerPayload = { case: 'ping', value: { nonce: 1n } };
const DONE: PeerPayload = { case: 'donePruningPointUtxoSetChunks', value: {} };

type Send = (payload: PeerPayload) => boolean;

interface Peer {
  url: string;
  /** Bytes that this peer has not sent yet. */
  waiting: () => number;
}

/** Starts a peer that greets as a node does, and then behaves as told. */
async function startPeer(
  behave: (send: Send, stream: ServerHttp2Stream) => void,
  { greeting = [VERSION, READY], reads = true }: { greeting?: readonly PeerPayload[]; reads?: boolean } = {},
): Promise<Peer> {
  const sessions = new Set<ServerHttp2Session>();
  const streams: ServerHttp2Stream[] = [];
  const server = createServer().listen(0, '127.0.0.1');
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream) => {
    streams.push(stream);
    stream.on('error', () => undefined);
    if (reads) stream.resume();
    stream.respond({ 'content-type': 'application/grpc' });
    const send: Send = (payload) => !stream.destroyed && stream.write(encodeFrame(encodePeerMessage(payload)));
    for (const payload of greeting) send(payload);
    behave(send, stream);
  });
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `grpc://127.0.0.1:${port}`, waiting: () => streams[0]?.writableLength ?? 0 };
}

async function download({ url }: Peer, options: Partial<UtxoSetOptions> = {}): Promise<number> {
  let count = 0;
  const set = { url, network: 'simnet', pruningPointHash: PRUNING_POINT, silenceMs: 500, ...options } as const;
  for await (const { utxos } of readUtxoSet(set)) count += utxos.length;
  return count;
}

/** Sends again and again, for as long as the other side reads. */
function flood(stream: ServerHttp2Stream, bytes: Buffer): void {
  const more = (): void => {
    while (!stream.destroyed && stream.write(bytes));
  };
  stream.on('drain', more);
  more();
}

function every(ms: number, stream: ServerHttp2Stream, work: () => void): void {
  const timer = setInterval(work, ms);
  stream.on('close', () => clearInterval(timer));
}

function chunkOf(count: number, scriptBytes = 34): PeerPayload {
  const items = Array.from(
    { length: count },
    (_, index): MessageInitShape<typeof UtxoSetItemSchema> => ({
      outpoint: { transactionId: { bytes: PRUNING_POINT }, index },
      entry: { amount: 1n, scriptPublicKey: { script: Buffer.alloc(scriptBytes) }, blockDaaScore: 1n },
    }),
  );
  return { case: 'pruningPointUtxoSetChunk', value: { items } };
}

test('a ping at intervals is no progress', async () => {
  const peer = await startPeer((send, stream) => every(50, stream, () => send(PING)));
  await expect(download(peer)).rejects.toThrow(/was silent for 500 ms/u);
});

test('a ping at intervals is no progress before the greeting is complete either', async () => {
  const peer = await startPeer((send, stream) => every(50, stream, () => send(PING)), { greeting: [VERSION] });
  await expect(download(peer)).rejects.toThrow(/was silent for 500 ms/u);
});

test('single bytes of a message are no progress', async () => {
  const peer = await startPeer((_, stream) => {
    stream.write(encodeFrame(Buffer.alloc(1_000_000)).subarray(0, 5));
    every(20, stream, () => stream.write(Buffer.alloc(1)));
  });
  await expect(download(peer)).rejects.toThrow(NodeUnavailableError);
});

test('a UTXO now and then is no progress', async () => {
  const peer = await startPeer((send, stream) => every(20, stream, () => send(chunkOf(1))));
  await expect(download(peer)).rejects.toThrow(NodeUnavailableError);
});

test('a peer that sends UTXOs slowly, but sends them, is not silent', async () => {
  const peer = await startPeer((send, stream) => {
    let sent = 0;
    every(300, stream, () => {
      sent += 1;
      send(sent <= 6 ? chunkOf(1_000) : DONE);
    });
  });
  expect(await download(peer, { silenceMs: 1_000 })).toBe(6_000);
});

test('an empty chunk may only end the set', async () => {
  const ending = await startPeer((send) => [chunkOf(3), chunkOf(0), DONE].forEach(send));
  expect(await download(ending)).toBe(3);
  const empty = await startPeer((_, stream) => flood(stream, encodeFrame(encodePeerMessage(chunkOf(0)))));
  await expect(download(empty)).rejects.toThrow(/sent a chunk after an empty one/u);
  const between = await startPeer((send) => [chunkOf(0), chunkOf(3), DONE].forEach(send));
  await expect(download(between)).rejects.toThrow(NodeProtocolError);
  const open = await startPeer((send, stream) => {
    send(chunkOf(0));
    every(50, stream, () => send(PING));
  });
  await expect(download(open)).rejects.toThrow(NodeUnavailableError);
});

test.each([true, false])(
  'a flood of pings ends the connection, whether their responses are read or not: %s',
  async (reads) => {
    const peer = await startPeer((_, stream) => flood(stream, encodeFrame(encodePeerMessage(PING))), { reads });
    await expect(download(peer)).rejects.toThrow(/sent more than 100 pings without progress/u);
  },
);

test('a flood of messages that nobody asked for ends the connection', async () => {
  const short = await startPeer((_, stream) => flood(stream, encodeFrame(encodePeerMessage(READY))));
  await expect(download(short, { silenceMs: 20_000 })).rejects.toThrow(/more than 20000 messages without progress/u);
  const unknown = Buffer.concat([Buffer.from([0xfa, 0x3e, 0x80, 0x80, 0x40]), Buffer.alloc(1024 * 1024)]);
  const long = await startPeer((_, stream) => flood(stream, encodeFrame(unknown)));
  await expect(download(long, { silenceMs: 20_000 })).rejects.toThrow(/bytes without progress/u);
});

test('a message that would become millions of objects is refused', async () => {
  const version = toBinary(PeerMessageSchema, create(PeerMessageSchema, { payload: VERSION }));
  const message = Buffer.concat([version, Buffer.alloc(999_999, Buffer.from([0xf8, 0x07, 0x01]))]);
  const peer = await startPeer((_, stream) => stream.write(encodeFrame(message)), { greeting: [] });
  await expect(download(peer)).rejects.toThrow(/a message of a peer has \d+ bytes instead of at most 65536/u);
});

test('a message of more than 64 MiB is refused by its length', async () => {
  const prefix = Buffer.from([0, 0x04, 0, 0, 1]);
  const peer = await startPeer((_, stream) => stream.write(prefix));
  await expect(download(peer)).rejects.toThrow(/a message of 67108865 bytes, and the limit is 67108864/u);
});

test('a chunk, and a set, has a limited number of UTXOs', async () => {
  const large = await startPeer((send) => send(chunkOf(10_001)));
  await expect(download(large, { silenceMs: 20_000 })).rejects.toThrow(
    /a chunk of a UTXO set has more than 10000 UTXOs/u,
  );
  const endless = await startPeer((_, stream) => flood(stream, encodeFrame(encodePeerMessage(chunkOf(1_000)))));
  await expect(download(endless, { maxUtxos: 50_000, silenceMs: 20_000 })).rejects.toThrow(
    /has more than 50000 UTXOs/u,
  );
});

test('a set has a limited number of bytes', async () => {
  const peer = await startPeer((_, stream) => flood(stream, encodeFrame(encodePeerMessage(chunkOf(1_000, 60_000)))));
  await expect(download(peer, { silenceMs: 20_000 })).rejects.toThrow(/has \d+ bytes for \d+ UTXOs/u);
});

test('a download has a deadline', async () => {
  const peer = await startPeer((send, stream) => every(20, stream, () => send(chunkOf(1_000))));
  await expect(download(peer, { deadlineMs: 300 })).rejects.toThrow(/did not send its UTXO set within 300 ms/u);
});

test('texts of a peer are shortened', async () => {
  const reason = 'x'.repeat(50_000);
  const rejecting = await startPeer((send) => send({ case: 'reject', value: { reason } }), { greeting: [] });
  const rejected = await download(rejecting).catch((error: unknown) => error);
  expect(rejected).toBeInstanceOf(PeerRejectedError);
  expect((rejected as Error).message.length).toBeLessThan(1_200);
  const foreign = await startPeer((send) => send({ case: 'version', value: { network: reason } }), { greeting: [] });
  const refused = await download(foreign).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(NodeUnsuitableError);
  expect((refused as Error).message.length).toBeLessThan(400);
});
