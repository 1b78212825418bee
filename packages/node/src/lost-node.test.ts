import { constants } from 'node:http2';
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger, sleep } from '@kasgres/runtime';
import { describe, expect, it } from 'vitest';
import { NodeProtocolError, NodeUnavailableError } from './errors.ts';
import { encodeFrame } from './grpc-frames.ts';
import { connect, respondSink, FakeNode, type FakeStream, startNode } from './testing/fake-node.ts';

/** Each thing that a node does instead of responding, and the error that the call fails with. */
const faults: [
  string,
  (stream: FakeStream, node: FakeNode) => void,
  abstract new (...args: never[]) => Error,
  RegExp,
][] = [
  [
    'resets the stream',
    (stream) => stream.http2Stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    NodeUnavailableError,
    /out of reach/,
  ],
  ['ends the stream', (stream) => stream.http2Stream.end(), NodeUnavailableError, /it ended the stream/],
  ['says goodbye', (_, node) => node.goAway(), NodeUnavailableError, /GOAWAY/],
  ['cuts the connection', (_, node) => node.disconnectAll(), NodeUnavailableError, /out of reach/],
  [
    'cuts the connection in the middle of a message',
    (stream, node) => {
      stream.sendBytes(encodeFrame(Buffer.alloc(1_000)).subarray(0, 500));
      setTimeout(() => node.disconnectAll(), 50);
    },
    NodeUnavailableError,
    /out of reach/,
  ],
  [
    'sends bytes that are no gRPC',
    (stream) => stream.sendBytes(Buffer.from('HTTP/1.1 400 Bad Request')),
    NodeProtocolError,
    /not a gRPC message/,
  ],
  [
    'sends a message that is no protobuf',
    (stream) => stream.sendMessage(Buffer.alloc(20, 0xff)),
    NodeProtocolError,
    /malformed message/,
  ],
  [
    'compresses a message',
    (stream) => stream.sendBytes(Buffer.of(1, 0, 0, 0, 1, 0)),
    NodeProtocolError,
    /compressed a message, which was not offered/,
  ],
];

describe.each(faults)('a node that %s', (_, fault, errorClass, message) => {
  it('pending calls fail, and the next call succeeds on a new stream', async () => {
    let faulty = true;
    const node = await startNode((request, stream) => {
      if (!faulty) return respondSink(request, stream);
      faulty = false;
      fault(stream, node);
    });
    const client = connect(node.url);
    const error = await client.call('getSink', {}).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ message: expect.stringMatching(message) as string });
    await client.waitUntilConnected();
    expect((await client.call('getSink', {})).sink).not.toBe('');
    expect(node.streams).toHaveLength(2);
  });
});

describe('an unreachable node', () => {
  it('makes calls fail at once with the reason after a failed attempt', async () => {
    const node = await startNode(respondSink);
    const { url } = node;
    await node.stop();
    const client = connect(url, { maxPauseMs: 5_000 });
    await expect(client.call('getSink', {})).rejects.toThrow(/ECONNREFUSED/);
    const again = client.call('getSink', {}).catch(String);
    // Within a turn of the event loop, thus without waiting for the next attempt.
    expect(await Promise.race([again, turn('it waits')])).toContain('ECONNREFUSED');
    expect(client.connected).toBe(false);
  });

  it('is reconnected when it is back, without a call', async () => {
    const node = await startNode(respondSink);
    const client = connect(node.url);
    await client.waitUntilConnected();
    const { port } = node;
    await node.stop();
    await expect.poll(() => client.connected).toBe(false);
    await sleep(300);
    await startNode(respondSink, port);
    await client.waitUntilConnected({ signal: AbortSignal.timeout(5_000) });
    expect((await client.call('getSink', {})).sink).not.toBe('');
  });

  it('rejects waitUntilConnected when the signal is aborted or the client is closed', async () => {
    const node = await startNode(respondSink);
    const { url } = node;
    await node.stop();
    const client = connect(url);
    const abort = new AbortController();
    const aborted = client.waitUntilConnected({ signal: abort.signal });
    const closed = client.waitUntilConnected();
    abort.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await Promise.all([expect(closed).rejects.toThrow(NodeUnavailableError), client.close()]);
  });

  it('is disconnected when it becomes silent', async () => {
    const node = await startNode(() => undefined);
    const client = connect(node.url, { heartbeatMs: 50 });
    await client.waitUntilConnected();
    const call = client.call('getSink', {});
    await sleep(300);
    expect(client.connected).toBe(true);
    node.respondsPings = false;
    await expect(call).rejects.toThrow(/silent for 150 ms/);
    expect(client.connected).toBe(false);
  });

  it('does not count as connected before it has responded', async () => {
    const node = await startNode(respondSink);
    node.respondsPings = false;
    const client = connect(node.url, { heartbeatMs: 50 });
    await sleep(100);
    expect(client.connected).toBe(false);
    node.respondsPings = true;
    await client.waitUntilConnected({ signal: AbortSignal.timeout(5_000) });
  });
});

it('it reports the reason of a node that refuses the stream', async () => {
  const node = await startNode((_, stream) => stream.refuse(8, 'full capacity'));
  node.respondsPings = false;
  await expect(connect(node.url).call('getSink', {})).rejects.toThrow(
    /it ended the stream with gRPC status 8: full capacity$/,
  );
});

it('it logs the loss of a connection once, not at every attempt', async () => {
  const lines: { level: string; msg: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as { level: string; msg: string }) };
  const node = await startNode(respondSink);
  const client = connect(node.url, { logger: createLogger({ name: 'test', destination }) });
  await client.waitUntilConnected();
  const { port } = node;
  await node.stop();
  await sleep(1_000);
  await startNode(respondSink, port);
  await client.waitUntilConnected({ signal: AbortSignal.timeout(5_000) });
  expect(lines.map(({ level, msg }) => `${level}: ${msg}`)).toEqual([
    'info: connected to the node',
    'warn: lost the node',
    'warn: could not reach the node',
    'info: connected to the node',
  ]);
});

it('closing the client rejects pending calls and stops reconnecting', async () => {
  const node = await startNode(() => undefined);
  const client = connect(node.url);
  const call = client.call('getSink', {});
  await expect.poll(() => node.requests).toHaveLength(1);
  await Promise.all([expect(call).rejects.toThrow(new NodeUnavailableError('the client was closed')), client.close()]);
  await sleep(500);
  expect(node.streams).toHaveLength(1);
  await expect(client.call('getSink', {})).rejects.toThrow(NodeUnavailableError);
});
