/**
 * A gRPC server for tests, which decide the response to each request, down to the bytes, and
 * clients of it.
 */
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { onTestFinished } from 'vitest';
import { type KaspadRequest, KaspadRequestSchema, KaspadResponseSchema } from '../generated/kaspad_pb.ts';
import { encodeFrame, FrameReader } from '../grpc-frames.ts';
import { NodeClient, type NodeClientOptions } from '../node-client.ts';

type ResponsePayload = NonNullable<MessageInitShape<typeof KaspadResponseSchema>['payload']>;
export type OnRequest = (request: KaspadRequest, stream: FakeStream, node: FakeNode) => void;

const FRAME_LIMIT = 2 ** 20;

export type { KaspadRequest } from '../generated/kaspad_pb.ts';

export async function startNode(onRequest: OnRequest, port = 0): Promise<FakeNode> {
  const server = createServer().listen(port, '127.0.0.1');
  const node = new FakeNode(server, onRequest);
  onTestFinished(() => node.stop());
  await once(server, 'listening');
  return node;
}

/** Reconnects quickly, so that tests are short. */
export function connect(url: string, options: Partial<NodeClientOptions> = {}): NodeClient {
  const client = new NodeClient({ url, deadlineMs: 5_000, maxPauseMs: 200, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Responds to getSink with a sink that contains the id of the request. */
export function respondSink(request: KaspadRequest, stream: FakeStream): void {
  stream.respond(request.id, { case: 'getSinkResponse', value: { sink: sinkOf(request) } });
}

export function sinkOf({ id }: KaspadRequest): string {
  return `sink of request ${id}`;
}

export class FakeNode {
  /** Requests of all streams, without pings. */
  readonly requests: KaspadRequest[] = [];
  readonly streams: FakeStream[] = [];
  /** Whether the node responds to pings by itself. */
  respondsPings = true;
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(server: Http2Server, onRequest: OnRequest) {
    this.#server = server;
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('error', () => undefined);
      session.on('close', () => this.#sessions.delete(session));
    });
    server.on('stream', (http2Stream) => {
      const stream = new FakeStream(http2Stream);
      this.streams.push(stream);
      const frames = new FrameReader(FRAME_LIMIT, (message) => {
        const request = fromBinary(KaspadRequestSchema, message);
        if (request.payload.case === 'pingRequest') {
          if (this.respondsPings) stream.respond(request.id, { case: 'pingResponse', value: {} });
          return;
        }
        this.requests.push(request);
        stream.requests.push(request);
        onRequest(request, stream, this);
      });
      http2Stream.on('data', (chunk: Buffer) => frames.push(chunk));
      http2Stream.on('error', () => undefined);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `grpc://127.0.0.1:${this.port}`;
  }

  /** Announces the end of every connection, as a stopping server does. */
  goAway(): void {
    for (const session of this.#sessions) session.goaway();
  }

  /** Destroys every connection. */
  disconnectAll(): void {
    for (const session of this.#sessions) session.destroy();
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.disconnectAll();
    if (this.#server.listening) await once(this.#server, 'close');
  }
}

export class FakeStream {
  readonly requests: KaspadRequest[] = [];
  readonly http2Stream: ServerHttp2Stream;

  constructor(http2Stream: ServerHttp2Stream) {
    this.http2Stream = http2Stream;
  }

  respond(id: bigint, payload: ResponsePayload): void {
    this.sendMessage(toBinary(KaspadResponseSchema, create(KaspadResponseSchema, { id, payload })));
  }

  sendMessage(message: Uint8Array): void {
    this.sendBytes(encodeFrame(message));
  }

  sendBytes(bytes: Uint8Array): void {
    if (this.http2Stream.destroyed) return;
    if (!this.http2Stream.headersSent) this.http2Stream.respond({ 'content-type': 'application/grpc' });
    this.http2Stream.write(bytes);
  }

  /** Refuses the stream: sends headers and no message. */
  refuse(grpcStatus: number, message: string): void {
    this.http2Stream.respond(
      { 'content-type': 'application/grpc', 'grpc-status': grpcStatus, 'grpc-message': encodeURIComponent(message) },
      { endStream: true },
    );
  }
}
