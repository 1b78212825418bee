/**
 * Listings of the mempool: read while they arrive, in any pieces, over a connection that nothing
 * else uses.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { NodeProtocolError, NodeResponseTooLargeError, NodeRpcError, NodeUnavailableError } from './errors.ts';
import { KaspadResponseSchema } from './generated/kaspad_pb.ts';
import { encodeFrame } from './grpc-frames.ts';
import { ListingReader, type ListingOp, type ListedEntry } from './listing-reader.ts';
import { decodeEntry, readEntryId } from './mempool-entry.ts';
import { connect, type FakeStream, type KaspadRequest, respondSink, startNode } from './testing/fake-node.ts';

const idOf = (n: number) => n.toString(16).padStart(64, '0');

const entryOf = (n: number, bytes = 10) => ({
  fee: BigInt(n),
  transaction: {
    inputs: [{ signatureScript: '41'.repeat(bytes) }],
    payload: 'ab'.repeat(bytes),
    verboseData: { transactionId: idOf(n), computeMass: 5n },
  },
});

type Payload = NonNullable<Parameters<typeof create<typeof KaspadResponseSchema>>[1]>['payload'];

const frameOf = (payload: Payload, id = 7n) =>
  encodeFrame(toBinary(KaspadResponseSchema, create(KaspadResponseSchema, { id, payload: payload as never })));

const pool = (...entries: object[]) => frameOf({ case: 'getMempoolEntriesResponse', value: { entries } });

const read = (frame: Uint8Array, pieceBytes: number, op: ListingOp = 'getMempoolEntries', limitBytes = 2 ** 20) => {
  const reader = new ListingReader({ op, id: 7, limitBytes });
  const entries: ListedEntry[] = [];
  for (let start = 0; start < frame.length; start += pieceBytes) {
    // Like a chunk of the network, whose memory is used again.
    entries.push(...reader.push(Uint8Array.from(frame.subarray(start, start + pieceBytes))));
  }
  return { entries, isDone: reader.isDone };
};

const PIECES = [1, 2, 3, 7, 64, 1000, 1_000_000];

describe.each(PIECES)('in pieces of %i bytes', (pieceBytes) => {
  it('reads the entries of a mempool', () => {
    const { entries, isDone } = read(pool(entryOf(1), entryOf(2, 300), entryOf(3, 0)), pieceBytes);
    expect(isDone).toBe(true);
    expect(entries.map(({ bytes }) => readEntryId(bytes))).toEqual([1, 2, 3].map(idOf));
    expect(entries.map(({ bytes }) => decodeEntry(bytes))).toMatchObject([
      { fee: 1n },
      { fee: 2n, transaction: { payload: 'ab'.repeat(300), verboseData: { computeMass: 5n } } },
      { fee: 3n },
    ]);
  });

  it('reads an empty mempool', () => {
    expect(read(pool(), pieceBytes)).toEqual({ entries: [], isDone: true });
  });

  it('reads the entries of addresses', () => {
    const entries = [
      { address: 'one', sending: [entryOf(1)], receiving: [entryOf(2, 200), entryOf(3)] },
      { address: 'none' },
      { address: 'two', sending: [], receiving: [entryOf(1)] },
    ];
    const frame = frameOf({ case: 'getMempoolEntriesByAddressesResponse', value: { entries } });
    const listed = read(frame, pieceBytes, 'getMempoolEntriesByAddresses');
    expect(listed.isDone).toBe(true);
    expect(listed.entries.map(({ address, bytes }) => [address, readEntryId(bytes)])).toEqual([
      ['one', idOf(1)],
      ['one', idOf(2)],
      ['one', idOf(3)],
      ['two', idOf(1)],
    ]);
  });

  it('throws the error of the node', () => {
    const error = { message: 'the mempool is closed' };
    const frame = frameOf({ case: 'getMempoolEntriesResponse', value: { error } });
    expect(() => read(frame, pieceBytes)).toThrow(new NodeRpcError('getMempoolEntries', error.message));
  });

  it('refuses the response to another request, and another response', () => {
    const other = frameOf({ case: 'getMempoolEntriesResponse', value: {} }, 8n);
    expect(() => read(other, pieceBytes)).toThrow(NodeProtocolError);
    expect(() => read(frameOf({ case: 'getSinkResponse', value: { sink: 'x' } }), pieceBytes)).toThrow(
      NodeProtocolError,
    );
  });

  it('fails for a message that is cut off or changed, and reads no other entries', () => {
    const frame = pool(entryOf(1), entryOf(2));
    for (let at = 5; at < frame.length; at += 1) {
      const changed = Uint8Array.from(frame);
      changed[at] = (changed[at] as number) ^ 0x81;
      try {
        const { entries } = read(changed, pieceBytes);
        expect(entries.length).toBeLessThanOrEqual(2);
        for (const { bytes } of entries) decodeEntry(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(NodeProtocolError);
      }
    }
    expect(read(frame.subarray(0, -1), pieceBytes).isDone).toBe(false);
  });
});

it('refuses a response that is too long by its first bytes', () => {
  const frame = pool(entryOf(1, 1000));
  expect(() => read(frame.subarray(0, 5), 5, 'getMempoolEntries', 1000)).toThrow(NodeResponseTooLargeError);
});

it('refuses an entry that no block can hold', () => {
  const frame = pool(entryOf(1, 2 * 1024 * 1024));
  expect(() => read(frame, 1000, 'getMempoolEntries', 2 ** 30)).toThrow(NodeProtocolError);
});

const listIds = (client: ReturnType<typeof connect>, limitBytes = 2 ** 20) =>
  client.list(
    'getMempoolEntries',
    {},
    async (pieces) => {
      const ids: string[] = [];
      for await (const entries of pieces) ids.push(...entries.map(({ bytes }) => readEntryId(bytes)));
      return ids;
    },
    { limitBytes },
  );

/** A node whose mempool has these entries, in the order of the requests. */
function nodeWith(...mempools: object[][]) {
  const pending = [...mempools];
  return startNode((request: KaspadRequest, stream: FakeStream) => {
    if (request.payload.case !== 'getMempoolEntriesRequest') respondSink(request, stream);
    else stream.respond(request.id, { case: 'getMempoolEntriesResponse', value: { entries: pending.shift() ?? [] } });
  });
}

it('lists over one connection again and again', async () => {
  const node = await nodeWith([entryOf(1)], [entryOf(2, 50_000), entryOf(3)], []);
  const client = connect(node.url);
  expect([await listIds(client), await listIds(client), await listIds(client)]).toEqual([
    [idOf(1)],
    [idOf(2), idOf(3)],
    [],
  ]);
  expect(node.streams).toHaveLength(2);
});

it('lists several at once, and opens the next connection when a listing fails', async () => {
  const node = await nodeWith([entryOf(1)], [entryOf(2)], [entryOf(3, 900_000)], [entryOf(4)]);
  const client = connect(node.url);
  const listed = await Promise.all([listIds(client), listIds(client)]);
  expect(listed.flat().toSorted()).toEqual([idOf(1), idOf(2)].toSorted());
  await expect.poll(() => node.streams.length).toBe(3);
  await expect(listIds(client)).rejects.toThrow('getMempoolEntries');
  await expect.poll(() => node.streams.length).toBe(4);
  expect(await listIds(client)).toEqual([idOf(4)]);
  await client.close();
  expect(node.streams).toHaveLength(4);
});

it('harms no call by a response that is too long, and lists over another connection after it', async () => {
  const node = await nodeWith([entryOf(1, 900_000)], [entryOf(2)]);
  const client = connect(node.url);
  await client.waitUntilConnected();
  const [listed, sink] = await Promise.allSettled([listIds(client), client.call('getSink', {})]);
  expect(listed).toMatchObject({ status: 'rejected', reason: { name: 'NodeResponseTooLargeError' } });
  expect(sink.status).toBe('fulfilled');
  expect(await listIds(client)).toEqual([idOf(2)]);
  expect(client.connected).toBe(true);
});

it('stops the node when a listing is not read to its end', async () => {
  const node = await nodeWith(
    Array.from({ length: 300 }, (_, n) => entryOf(n, 1000)),
    [entryOf(7)],
  );
  const client = connect(node.url);
  const stopped = client.list(
    'getMempoolEntries',
    {},
    async (pieces) => {
      for await (const entries of pieces) throw new RangeError(`enough with ${entries.length}`);
    },
    { limitBytes: 2 ** 30 },
  );
  await expect(stopped).rejects.toThrow('enough');
  expect(await listIds(client)).toEqual([idOf(7)]);
});

it('fails when the node does not respond, goes away, or refuses', async () => {
  const silent = await startNode(() => undefined);
  const slow = connect(silent.url, { deadlineMs: 50 });
  await expect(listIds(slow)).rejects.toThrow('did not respond to getMempoolEntries within 50 ms');
  await expect(listIds(slow)).rejects.toBeInstanceOf(NodeUnavailableError);
  const dripping = await startNode(({ id }, stream) => {
    const frame = frameOf({ case: 'getMempoolEntriesResponse', value: { entries: [entryOf(1, 1000)] } }, id);
    let sent = 0;
    const timer = setInterval(() => {
      if (stream.http2Stream.destroyed) clearInterval(timer);
      else stream.sendBytes(frame.subarray(sent, ++sent));
    }, 20);
  });
  await expect(listIds(connect(dripping.url, { deadlineMs: 200 }))).rejects.toThrow(
    'its response to getMempoolEntries took too long',
  );
  const chatty = await startNode((_request, stream) => stream.http2Stream.additionalHeaders({ ':status': 103 }));
  await expect(listIds(connect(chatty.url))).rejects.toThrow('it sent an informational response');
  const leaving = await startNode((_request, _stream, node) => node.disconnectAll());
  await expect(listIds(connect(leaving.url))).rejects.toBeInstanceOf(NodeUnavailableError);
  const { url } = silent;
  await silent.stop();
  await expect(listIds(connect(url))).rejects.toBeInstanceOf(NodeUnavailableError);
});
