/**
 * One gRPC message stream to the node, on a separate HTTP/2 connection: bytes of messages in, bytes of messages out. It
 * opens at once, ends once, and says why. Compression is not offered, since it costs the node most of its serving rate.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { NodeProtocolError, NodeUnavailableError } from './errors.ts';
import { encodeFrame, FrameReader } from './grpc-frames.ts';
import type { NodeAddress } from './node-address.ts';

const FRAME_BYTES = 1024 * 1024;

export interface MessageStreamOptions {
  address: NodeAddress;
  /** Of the service's method. */
  path: string;
  /** How much the node may send ahead of what was read. */
  windowBytes: number;
  receiveLimitBytes: number;
  /** The message is gone when it returns. May throw NodeProtocolError, which ends the stream. */
  onMessage: (message: Uint8Array) => void;
  /** Called once, whoever ended it, never from within the constructor. */
  onEnd: (reason: NodeUnavailableError | NodeProtocolError) => void;
}

export class MessageStream {
  /** Grows with every chunk: a sign of life. */
  bytesReceived = 0;
  readonly #options: MessageStreamOptions;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  #ended = false;

  constructor(options: MessageStreamOptions) {
    this.#options = options;
    const { address, path, windowBytes } = options;
    const session = connect(`http://${address.host}:${address.port}`, {
      settings: { enablePush: false, initialWindowSize: windowBytes, maxFrameSize: FRAME_BYTES },
    });
    this.#session = session;
    session.on('connect', () => {
      // It is told one turn after it happened: the stream may have been ended in between.
      if (!session.destroyed) session.setLocalWindowSize(windowBytes);
    });
    session.on('error', (error: Error) => this.#fail(error.message));
    session.on('goaway', (code) => this.#fail(`it closed the connection (GOAWAY ${code})`));
    session.on('close', () => this.#fail('the connection was closed'));

    const stream = session.request(
      {
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
        [constants.HTTP2_HEADER_TE]: 'trailers',
        [constants.HTTP2_HEADER_USER_AGENT]: 'kasgres',
        'grpc-accept-encoding': 'identity',
      },
      { endStream: false },
    );
    this.#stream = stream;
    const frames = new FrameReader(options.receiveLimitBytes, options.onMessage);
    stream.on('response', (headers) => this.#checkHeaders(headers[':status'], headers));
    stream.on('trailers', (trailers: IncomingHttpHeaders) =>
      this.#fail(describeStatus(trailers) ?? 'it ended the stream'),
    );
    stream.on('data', (chunk: Buffer) => this.#receive(frames, chunk));
    stream.on('error', (error: Error) => this.#fail(error.message));
    stream.on('end', () => this.#fail('it ended the stream'));
    stream.on('close', () => this.#fail('the stream was closed'));
  }

  /** Does nothing once the stream has ended. */
  send(message: Uint8Array): void {
    if (!this.#ended) this.#stream.write(encodeFrame(message));
  }

  /** Takes nothing more from the node, which then has to wait, until `resume`. What has come in already may still be told. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  end(reason: NodeUnavailableError | NodeProtocolError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#session.destroy();
    this.#options.onEnd(reason);
  }

  #fail(what: string): void {
    const { host, port } = this.#options.address;
    this.end(new NodeUnavailableError(`the node at ${host}:${port} is out of reach: ${what}`));
  }

  #checkHeaders(status: number | undefined, headers: IncomingHttpHeaders): void {
    if (status !== constants.HTTP_STATUS_OK) return this.#fail(`it responded with HTTP status ${status}`);
    const grpcStatus = describeStatus(headers);
    if (grpcStatus !== undefined) this.#fail(grpcStatus);
  }

  #receive(frames: FrameReader, chunk: Buffer): void {
    if (this.#ended) return;
    this.bytesReceived += chunk.length;
    try {
      frames.push(chunk);
    } catch (error) {
      if (!(error instanceof NodeProtocolError)) throw error;
      this.end(error);
    }
  }
}

/** The end of a gRPC call, in trailers or, when nothing else was sent, in headers. */
function describeStatus(headers: IncomingHttpHeaders): string | undefined {
  const status = headers['grpc-status'];
  if (status === undefined) return undefined;
  const message = headers['grpc-message'];
  const text = typeof message === 'string' && message !== '' ? `: ${decodePercent(message)}` : '';
  return `it ended the stream with gRPC status ${String(status)}${text}`;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
