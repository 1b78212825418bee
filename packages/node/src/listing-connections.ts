/**
 * Lists the mempool over connections that nothing else uses, one for each listing at once. A
 * connection stays for the next listing, and is closed by one that fails or is not read to its end,
 * so that the node stops sending. The response is read as fast as it is used, so that it takes no
 * memory.
 */
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { RequestOf } from './calls.ts';
import { encodeRequest } from './envelope.ts';
import { NodeUnavailableError } from './errors.ts';
import { encodeFrame } from './grpc-frames.ts';
import { type ListedEntry, type ListingOp, ListingReader } from './listing-reader.ts';
import { openGrpcStream } from './message-stream.ts';
import type { NodeAddress } from './node-address.ts';

const PATH = '/protowire.RPC/MessageStream';
const WINDOW_BYTES = 1024 * 1024;
/** Frames arrive as chunks, which are decoded at once. */
const FRAME_BYTES = 64 * 1024;

/** A response may take this many times as long as the node may send nothing. */
const MAX_SILENCES = 12;

export interface ListOptions {
  /** How long the node may send nothing. */
  deadlineMs: number;
  /** A longer response is refused before it is received. */
  limitBytes: number;
}

/** Gets the entries in pieces, as they arrive. */
export type UseListing<T> = (pieces: AsyncIterable<readonly ListedEntry[]>) => Promise<T>;

interface Connection {
  session: ClientHttp2Session;
  stream: ClientHttp2Stream;
  chunks: AsyncIterator<Buffer>;
}

export class ListingConnections {
  readonly #address: NodeAddress;
  readonly #open = new Set<Connection>();
  readonly #idle: Connection[] = [];
  #nextId = 1;
  #isClosed = false;

  constructor(address: NodeAddress) {
    this.#address = address;
  }

  /**
   * Throws NodeResponseTooLargeError, NodeRpcError, NodeUnavailableError, NodeProtocolError, or an
   * error of `use`.
   */
  async list<O extends ListingOp, T>(
    op: O,
    request: RequestOf<O>,
    use: UseListing<T>,
    { deadlineMs, limitBytes }: ListOptions,
  ): Promise<T> {
    const connection = this.#idle.pop() ?? this.#connect();
    const id = this.#nextId++;
    const reader = new ListingReader({ op, id, limitBytes });
    const fail = (reason: string) => (): void => connection.session.destroy(new Error(reason));
    const timer = setTimeout(fail(`it did not respond to ${op} within ${deadlineMs} ms`), deadlineMs);
    const total = setTimeout(fail(`its response to ${op} took too long`), deadlineMs * MAX_SILENCES);
    try {
      connection.stream.write(encodeFrame(encodeRequest(id, op, request)));
      return await use(this.#piecesOf(connection, reader, timer));
    } finally {
      clearTimeout(timer);
      clearTimeout(total);
      if (!reader.isDone) this.#replace(connection);
      else if (this.#open.has(connection)) this.#idle.push(connection);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { session } of this.#open) session.destroy();
  }

  async *#piecesOf({ chunks }: Connection, reader: ListingReader, timer: NodeJS.Timeout) {
    while (!reader.isDone) {
      const chunk = await chunks.next().catch((error: Error) => {
        throw this.#lost(error.message);
      });
      if (chunk.done === true) throw this.#lost('it ended the stream');
      timer.refresh();
      const entries = reader.push(chunk.value);
      if (entries.length > 0) yield entries;
    }
  }

  /** Others must not wait for a new connection, because the listing of one was too large. */
  #replace({ session }: Connection): void {
    const wasLost = session.destroyed;
    session.destroy();
    if (!wasLost && !this.#isClosed) this.#idle.unshift(this.#connect());
  }

  #lost(reason: string): NodeUnavailableError {
    const { host, port } = this.#address;
    return new NodeUnavailableError(`the node at ${host}:${port} is out of reach: ${reason}`);
  }

  #connect(): Connection {
    const { session, stream } = openGrpcStream({
      address: this.#address,
      path: PATH,
      windowBytes: WINDOW_BYTES,
      frameBytes: FRAME_BYTES,
    });
    const opened: Connection = { session, stream, chunks: stream[Symbol.asyncIterator]() as AsyncIterator<Buffer> };
    this.#open.add(opened);
    const onLost = (): void => {
      this.#open.delete(opened);
      const index = this.#idle.indexOf(opened);
      if (index !== -1) this.#idle.splice(index, 1);
    };
    // A listing that is running gets the error from the iterator.
    session.on('error', (error: Error) => stream.destroy(error));
    session.on('goaway', onLost).on('close', onLost);
    stream.on('error', onLost).on('close', onLost);
    // As in MessageStream.
    stream.on('headers', () => stream.destroy(new Error('it sent an informational response')));
    return opened;
  }
}
