/**
 * A gRPC stream of encoded messages to the node, on a separate HTTP/2 connection. It opens at once,
 * and closes once with a reason. Compression is not offered, since it would reduce the node's
 * serving rate to a fraction.
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
  /** Path of the gRPC method. */
  path: string;
  /** How much the node may send before this side has read it. */
  windowBytes: number;
  receiveLimitBytes: number;
  /** How much may wait for a node that does not read. */
  sendLimitBytes: number;
  /**
   * The message is valid only until this returns. A NodeProtocolError that it throws closes the
   * stream.
   */
  onMessage: (message: Uint8Array) => void;
  /** Called once, whichever side closes the stream, and never by the constructor. */
  onClose: (reason: NodeUnavailableError | NodeProtocolError) => void;
}

export class MessageStream {
  /** Shows whether the node still sends. */
  bytesReceived = 0;
  readonly #options: MessageStreamOptions;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  #closed = false;

  constructor(options: MessageStreamOptions) {
    this.#options = options;
    const { address, path, windowBytes } = options;
    const { session, stream } = openGrpcStream({ address, path, windowBytes, frameBytes: FRAME_BYTES });
    this.#session = session;
    session.on('error', (error: Error) => this.#fail(error.message));
    session.on('goaway', (code) => this.#fail(`it closed the connection (GOAWAY ${code})`));
    session.on('close', () => this.#fail('the connection was closed'));
    this.#stream = stream;
    const frames = new FrameReader(options.receiveLimitBytes, options.onMessage);
    stream.on('response', (headers) => this.#checkHeaders(headers[':status'], headers));
    // gRPC has no informational responses, and a flood of them would pass unseen by every limit on
    // messages.
    stream.on('headers', () => this.#fail('it sent an informational response'));
    stream.on('trailers', (trailers: IncomingHttpHeaders) =>
      this.#fail(describeStatus(trailers) ?? 'it ended the stream'),
    );
    stream.on('data', (chunk: Buffer) => this.#receive(frames, chunk));
    stream.on('error', (error: Error) => this.#fail(error.message));
    stream.on('end', () => this.#fail('it ended the stream'));
    stream.on('close', () => this.#fail('the stream was closed'));
  }

  /** Does nothing if the stream is closed. Closes it if the node leaves too much unread. */
  send(message: Uint8Array): void {
    if (this.#closed) return;
    const waiting = this.#stream.writableLength;
    if (waiting > this.#options.sendLimitBytes) {
      return this.#fail(`it does not read what it is sent: ${waiting} bytes are waiting`);
    }
    this.#stream.write(encodeFrame(message));
  }

  /**
   * Stops reading until `resume`, which blocks the node. Messages that were already received may
   * still be delivered.
   */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  close(reason: NodeUnavailableError | NodeProtocolError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#session.destroy();
    this.#options.onClose(reason);
  }

  #fail(reason: string): void {
    const { host, port } = this.#options.address;
    this.close(new NodeUnavailableError(`the node at ${host}:${port} is out of reach: ${reason}`));
  }

  #checkHeaders(status: number | undefined, headers: IncomingHttpHeaders): void {
    if (status !== constants.HTTP_STATUS_OK) return this.#fail(`it responded with HTTP status ${status}`);
    const grpcStatus = describeStatus(headers);
    if (grpcStatus !== undefined) this.#fail(grpcStatus);
  }

  #receive(frames: FrameReader, chunk: Buffer): void {
    if (this.#closed) return;
    this.bytesReceived += chunk.length;
    try {
      frames.push(chunk);
    } catch (error) {
      if (!(error instanceof NodeProtocolError)) throw error;
      this.close(error);
    }
  }
}

interface GrpcStreamOptions {
  address: NodeAddress;
  path: string;
  windowBytes: number;
  /** The largest piece in which messages arrive. */
  frameBytes: number;
}

/** Opens a stream on a separate connection. The caller must handle errors of both. */
export function openGrpcStream({ address, path, windowBytes, frameBytes }: GrpcStreamOptions): {
  session: ClientHttp2Session;
  stream: ClientHttp2Stream;
} {
  const session = connect(`http://${address.host}:${address.port}`, {
    settings: { enablePush: false, initialWindowSize: windowBytes, maxFrameSize: frameBytes },
  });
  session.on('connect', () => {
    // The event is emitted one turn late, and the stream may be closed by then.
    if (!session.destroyed) session.setLocalWindowSize(windowBytes);
  });
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
  return { session, stream };
}

/**
 * Returns the status that ended a gRPC call. It is in the trailers, or in the headers of a response
 * without messages.
 */
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
