/**
 * One stream to the node that is kept up: requests are matched to responses by id, and when the stream is lost every request
 * under way fails, and it is opened again after a growing pause. A heartbeat notices a peer that went away without a word.
 */
import { backoff, type Logger, sleep } from '@kasgres/runtime';
import type { AnyOp, RequestOf } from './calls.ts';
import { type Envelope, encodeRequest, getResponseField, readEnvelope } from './envelope.ts';
import { NodeProtocolError, NodeUnavailableError } from './errors.ts';
import { MessageStream } from './message-stream.ts';
import type { NodeAddress } from './node-address.ts';

/** Heartbeats without any byte received after which the stream is given up. */
const SILENT_HEARTBEATS = 3;
const PATH = '/protowire.RPC/MessageStream';
/** A page of blocks is tens of megabytes. */
const WINDOW_BYTES = 64 * 1024 * 1024;

export interface NodeConnectionOptions {
  address: NodeAddress;
  receiveLimitBytes: number;
  heartbeatMs: number;
  /** The longest pause between attempts. */
  maxPauseMs: number;
  logger?: Logger | undefined;
  onUp?: () => void;
  /** May throw NodeProtocolError, which cuts the stream. */
  onNotification?: (envelope: Envelope) => void;
}

export interface RequestOptions {
  deadlineMs: number;
  signal?: AbortSignal | undefined;
}

interface PendingRequest {
  op: AnyOp;
  responseField: number;
  settle: () => void;
  /** Decodes the response message, which is gone when it returns. */
  resolve: (body: Uint8Array) => void;
  reject: (error: unknown) => void;
}

export class NodeConnection {
  readonly #options: NodeConnectionOptions;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #stream: MessageStream | undefined;
  #up = false;
  #whenUp = Promise.withResolvers<void>();
  #nextId = 1;
  #lastReason = 'no attempt yet';

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
    this.#ended = this.#keepUp();
  }

  /** The node has responded on the stream that is open now. */
  get up(): boolean {
    return this.#up;
  }

  /** Resolves when `up` is next true. */
  get whenUp(): Promise<void> {
    return this.#whenUp.promise;
  }

  /** Requests under way. */
  get load(): number {
    return this.#pending.size;
  }

  /**
   * What `decode` makes of the response message, of which it may keep no part. While the stream is being opened the request
   * waits for it; in the pause between attempts it fails at once. Throws NodeUnavailableError, NodeProtocolError, the signal's
   * reason, or what `decode` throws.
   */
  async request<O extends AnyOp, T>(
    op: O,
    request: RequestOf<O>,
    decode: (body: Uint8Array) => T,
    options: RequestOptions,
  ): Promise<T> {
    options.signal?.throwIfAborted();
    const stream = this.#stream;
    if (stream === undefined) throw new NodeUnavailableError(this.#lastReason);
    const id = this.#nextId++;
    const message = encodeRequest(id, op, request);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const { deadlineMs, signal } = options;
    const fail = (error: unknown): void => this.#take(id)?.reject(error);
    const onAbort = (): void => fail(signal?.reason);
    const timer = setTimeout(
      () => fail(new NodeUnavailableError(`the node did not respond to ${op} within ${deadlineMs} ms`)),
      deadlineMs,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const responseField = getResponseField(`${op}Response`).number;
    const decodeAndResolve = (body: Uint8Array): void => {
      try {
        resolve(decode(body));
      } catch (error) {
        reject(error);
      }
    };
    this.#pending.set(id, { op, responseField, settle, resolve: decodeAndResolve, reject });
    stream.send(message);
    return promise;
  }

  /** Gives the stream up and opens another. */
  cut(reason: NodeUnavailableError | NodeProtocolError): void {
    this.#stream?.end(reason);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.cut(new NodeUnavailableError('the client was closed'));
    await this.#ended;
  }

  async #keepUp(): Promise<void> {
    const { signal } = this.#closing;
    const newPauses = (): Generator<number, never, void> => backoff({ firstMs: 200, maxMs: this.#options.maxPauseMs });
    let pauses = newPauses();
    while (!signal.aborted) {
      const wasUp = await this.#holdStream();
      if (wasUp) pauses = newPauses();
      // Aborting only ends the pause; the loop's own condition sees it.
      await sleep(pauses.next().value, signal).catch(() => undefined);
    }
  }

  /** Opens a stream and resolves when it is lost, with whether it was ever up. */
  async #holdStream(): Promise<boolean> {
    const { address, receiveLimitBytes, heartbeatMs } = this.#options;
    const lost = Promise.withResolvers<NodeUnavailableError | NodeProtocolError>();
    const stream = new MessageStream({
      address,
      path: PATH,
      windowBytes: WINDOW_BYTES,
      receiveLimitBytes,
      onMessage: (message) => this.#receive(message),
      onEnd: lost.resolve,
    });
    this.#stream = stream;
    void this.#greet(stream);
    const heartbeat = this.#startHeartbeat(stream, heartbeatMs);
    const reason = await lost.promise;
    clearInterval(heartbeat);
    const wasUp = this.#up;
    if (wasUp) this.#whenUp = Promise.withResolvers();
    this.#up = false;
    this.#stream = undefined;
    for (const id of this.#pending.keys()) this.#take(id)?.reject(reason);
    this.#logLoss(reason.message, wasUp);
    this.#lastReason = reason.message;
    return wasUp;
  }

  /** The same failure again, every few seconds, is no news. */
  #logLoss(reason: string, wasUp: boolean): void {
    if (this.#closing.signal.aborted) return;
    if (wasUp) this.#options.logger?.warn({ reason }, 'lost the node');
    else if (reason !== this.#lastReason) this.#options.logger?.warn({ reason }, 'could not reach the node');
    else this.#options.logger?.debug({ reason }, 'could not reach the node');
  }

  /** The stream counts as up when the node has responded on it: that it accepted a connection says little. */
  async #greet(stream: MessageStream): Promise<void> {
    const { address, logger, onUp } = this.#options;
    try {
      await this.#ping();
    } catch (error) {
      stream.end(asStreamError(error));
      return;
    }
    if (this.#stream !== stream) return;
    this.#up = true;
    logger?.info({ host: address.host, port: address.port }, 'connected to the node');
    this.#whenUp.resolve();
    onUp?.();
  }

  #ping(): Promise<void> {
    return this.request('ping', {}, () => undefined, { deadlineMs: this.#options.heartbeatMs * SILENT_HEARTBEATS });
  }

  #startHeartbeat(stream: MessageStream, heartbeatMs: number): NodeJS.Timeout {
    let silent = 0;
    let received = 0;
    return setInterval(() => {
      silent = stream.bytesReceived === received ? silent + 1 : 0;
      received = stream.bytesReceived;
      if (silent >= SILENT_HEARTBEATS) {
        stream.end(new NodeUnavailableError(`the node was silent for ${silent * heartbeatMs} ms`));
      } else if (this.#up) {
        // Its response is the sign of life; its failure is that of the stream, which is told elsewhere.
        this.#ping().catch(() => undefined);
      }
    }, heartbeatMs);
  }

  #receive(message: Uint8Array): void {
    const envelope = readEnvelope(message);
    if (envelope.id === 0) return this.#options.onNotification?.(envelope);
    // Unknown ids are responses that came after the deadline, or after an abort.
    const pending = this.#take(envelope.id);
    if (pending === undefined) return;
    if (envelope.field === pending.responseField) pending.resolve(envelope.body);
    else pending.reject(new NodeProtocolError(`the node responded to ${pending.op} with message ${envelope.field}`));
  }

  #take(id: number): PendingRequest | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    pending.settle();
    return pending;
  }
}

function asStreamError(error: unknown): NodeUnavailableError | NodeProtocolError {
  if (error instanceof NodeUnavailableError || error instanceof NodeProtocolError) return error;
  return new NodeUnavailableError(error instanceof Error ? error.message : String(error), { cause: error });
}
