import { create, toBinary } from '@bufbuild/protobuf';
import { sleep } from '@kasgres/runtime';
import { describe, expect, it } from 'vitest';
import { NodeProtocolError, NodeRpcError, NodeUnavailableError } from './errors.ts';
import { KaspadResponseSchema } from './generated/kaspad_pb.ts';
import { encodeFrame } from './grpc-frames.ts';
import { connect, respondSink, type KaspadRequest, sinkOf, startNode } from './testing/fake-node.ts';

describe('a call', () => {
  it('gets the response with its id, regardless of the order of responses', async () => {
    const held: KaspadRequest[] = [];
    const node = await startNode((request, stream) => {
      held.push(request);
      if (held.length === 5) for (const one of held.toReversed()) respondSink(one, stream);
    });
    const client = connect(node.url);
    const responses = await Promise.all(Array.from({ length: 5 }, () => client.call('getSink', {})));
    expect(responses.map(({ sink }) => sink)).toEqual(node.requests.map(sinkOf));
    expect(new Set(node.requests.map(({ id }) => id)).size).toBe(5);
  });

  it("throws the node's error", async () => {
    const node = await startNode((request, stream) =>
      stream.respond(request.id, {
        case: 'getBalanceByAddressResponse',
        value: { error: { message: 'Method unavailable. Run the node with the --utxoindex argument.' } },
      }),
    );
    const error = await connect(node.url)
      .call('getBalanceByAddress', { address: 'x' })
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(NodeRpcError);
    expect(error).toMatchObject({ op: 'getBalanceByAddress', kind: 'no-utxoindex' });
  });

  it('fails at the deadline, and ignores the late response', async () => {
    const node = await startNode((request, stream) => {
      if (node.requests.length > 1) respondSink(request, stream);
      else setTimeout(() => respondSink(request, stream), 150);
    });
    const client = connect(node.url);
    await expect(client.call('getSink', {}, { deadlineMs: 50 })).rejects.toThrow(
      new NodeUnavailableError('the node did not respond to getSink within 50 ms'),
    );
    await sleep(200);
    expect((await client.call('getSink', {})).sink).toBe(sinkOf(node.requests[1] as KaspadRequest));
  });

  it('throws the reason of its signal', async () => {
    const node = await startNode(() => undefined);
    const client = connect(node.url);
    const abort = new AbortController();
    const call = client.call('getSink', {}, { signal: abort.signal });
    setTimeout(() => abort.abort(new Error('enough')), 50);
    await expect(call).rejects.toThrow('enough');
    await expect(client.call('getSink', {}, { signal: abort.signal })).rejects.toThrow('enough');
    expect(node.requests).toHaveLength(1);
  });

  it('fails if the response belongs to another operation', async () => {
    const node = await startNode(respondSink);
    await expect(connect(node.url).call('getInfo', {})).rejects.toThrow(NodeProtocolError);
  });

  it('waits for a slow response', async () => {
    const node = await startNode((request, stream) => {
      const frame = encodeFrame(sinkMessage(request));
      for (const [index, byte] of [...frame].entries()) setTimeout(() => stream.sendBytes(Buffer.of(byte)), 5 * index);
    });
    expect((await connect(node.url).call('getSink', {})).sink).toMatch(/^sink of/);
  });

  it('receives a huge response completely', async () => {
    const addresses = Array.from({ length: 200_000 }, (_, index) => ({ address: `${'a'.repeat(250)}${index}` }));
    const node = await startNode((request, stream) =>
      stream.respond(request.id, { case: 'getBalancesByAddressesResponse', value: { entries: addresses } }),
    );
    const { entries } = await connect(node.url, { deadlineMs: 30_000 }).call('getBalancesByAddresses', {});
    expect(entries).toHaveLength(200_000);
    expect(entries.at(-1)?.address).toBe(addresses.at(-1)?.address);
  });

  it('rejects a response beyond the limit with both sizes', async () => {
    const node = await startNode((request, stream) =>
      stream.respond(request.id, { case: 'getSinkResponse', value: { sink: 'x'.repeat(5_000) } }),
    );
    await expect(connect(node.url, { receiveLimitBytes: 4_000 }).call('getSink', {})).rejects.toThrow(
      /^the node sent a message of 50\d\d bytes, and the limit is 4000$/,
    );
  });

  it('uses the least busy stream, or the given one', async () => {
    const node = await startNode(() => undefined);
    const client = connect(node.url, { streams: 3 });
    await expect.poll(() => node.streams).toHaveLength(3);
    await sleep(100);
    const abort = new AbortController();
    const { signal } = abort;
    const calls = [
      ...Array.from({ length: 3 }, () => client.call('getSink', {}, { signal })),
      client.call('getInfo', {}, { signal, stream: 2 }),
    ];
    await expect.poll(() => node.requests).toHaveLength(4);
    const counts = node.streams.map((s) => s.requests.map(({ payload }) => payload.case));
    expect(counts.filter((ops) => ops.includes('getSinkRequest'))).toHaveLength(3);
    expect(counts.filter((ops) => ops.includes('getInfoRequest'))).toHaveLength(1);
    await expect(client.call('getInfo', {}, { stream: 3 })).rejects.toThrow(RangeError);
    abort.abort(new Error('done'));
    await Promise.allSettled(calls);
  });
});

function sinkMessage(request: KaspadRequest): Uint8Array {
  const payload = { case: 'getSinkResponse' as const, value: { sink: sinkOf(request) } };
  return toBinary(KaspadResponseSchema, create(KaspadResponseSchema, { id: request.id, payload }));
}
