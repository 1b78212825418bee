/**
 * A stream to the node that reconnects with backoff. Responses are matched to requests by id. When
 * the stream is lost, all pending requests fail. A heartbeat detects a node that vanished without
 * closing the connection.
 */
import { backoff, type Logger, sleep } from '@kasgres/runtime';
import type { AnyOp, RequestOf } from './calls.ts';
import { type Envelope, encodeRequest, getResponseField, readEnvelope } from './envelope.ts';
import { NodeProtocolError, NodeUnavailableError } from './errors.ts';
import { Allowance } from './allowance.ts';
import { MessageStream } from './message-stream.ts';
import type { NodeAddress } from './node-address.ts';

/** Heartbeats without any received byte after which the stream is closed. */
const SILENT_HEARTBEATS = 3;
const PATH = '/protowire.RPC/MessageStream';
/** A page of blocks is tens of megabytes. */
const WINDOW_BYTES = 64 * 1024 * 1024;
/**
 * More than all calls that the programs have under way, with the largest blocks and transactions.
 */
const SEND_LIMIT_BYTES = 64 * 1024 * 1024;
/**
 * A node of the public networks sends about twenty notifications a second, and some thousands at
 * once while it catches up.
 */
const UNREQUESTED_PER_SECOND = 1_000;
const UNREQUESTED_AT_ONCE = 50_000;

export interface NodeConnectionOptions {
  address: NodeAddress;
  receiveLimitBytes: number;
  heartbeatMs: number;
  /** The longest pause between attempts. */
  maxPauseMs: number;
  logger?: Logger | undefined;
  onUp?: () => void;
  /** A NodeProtocolError that it throws closes the stream. */
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
  /** Decodes the response message, which is valid only until this returns. */
  resolve: (body: Uint8Array) => void;
  reject: (error: unknown) => void;
}

export class NodeConnection {
  readonly #options: NodeConnectionOptions;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #closing = new AbortController();
  readonly #stopped: Promise<void>;
  #stream: MessageStream | undefined;
  #up = false;
  #whenUp = Promise.withResolvers<void>();
  #nextId = 1;
  #lastReason = 'no attempt yet';

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
    this.#stopped = this.#keepUp();
  }

  /** Whether the node has responded on the open stream. */
  get up(): boolean {
    return this.#up;
  }

  /** Resolves when `up` is next true. */
  get whenUp(): Promise<void> {
    return this.#whenUp.promise;
  }

  /** Number of pending requests. */
  get load(): number {
    return this.#pending.size;
  }

  /**
   * Returns the result of `decode`, which must not keep views of the response message. Waits for a
   * stream that is being opened; in the pause between attempts it fails at once. Throws
   * NodeUnavailableError, NodeProtocolError, the signal's reason, or an error of `decode`.
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

  /** Closes the stream; another is opened. */
  reconnect(reason: NodeUnavailableError | NodeProtocolError): void {
    this.#stream?.close(reason);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.reconnect(new NodeUnavailableError('the client was closed'));
    await this.#stopped;
  }

  async #keepUp(): Promise<void> {
    const { signal } = this.#closing;
    const newPauses = (): Generator<number, never, void> => backoff({ firstMs: 200, maxMs: this.#options.maxPauseMs });
    let pauses = newPauses();
    while (!signal.aborted) {
      const wasUp = await this.#holdStream();
      if (wasUp) pauses = newPauses();
      // Aborting ends the pause, and then the loop.
      await sleep(pauses.next().value, signal).catch(() => undefined);
    }
  }

  /** Opens a stream and waits until it is lost. Returns whether the node had responded on it. */
  async #holdStream(): Promise<boolean> {
    const { address, receiveLimitBytes, heartbeatMs } = this.#options;
    const lost = Promise.withResolvers<NodeUnavailableError | NodeProtocolError>();
    const unrequested = new Allowance(UNREQUESTED_AT_ONCE, UNREQUESTED_PER_SECOND);
    const stream = new MessageStream({
      address,
      path: PATH,
      windowBytes: WINDOW_BYTES,
      receiveLimitBytes,
      sendLimitBytes: SEND_LIMIT_BYTES,
      onMessage: (message) => this.#receive(message, unrequested),
      onClose: lost.resolve,
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

  /** Repeated failures are logged at debug level. */
  #logLoss(reason: string, wasUp: boolean): void {
    if (this.#closing.signal.aborted) return;
    if (wasUp) this.#options.logger?.warn({ reason }, 'lost the node');
    else if (reason !== this.#lastReason) this.#options.logger?.warn({ reason }, 'could not reach the node');
    else this.#options.logger?.debug({ reason }, 'could not reach the node');
  }

  /** The stream is up when the node has responded on it: an accepted connection proves little. */
  async #greet(stream: MessageStream): Promise<void> {
    const { address, logger, onUp } = this.#options;
    try {
      await this.#ping();
    } catch (error) {
      stream.close(asStreamError(error));
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
        stream.close(new NodeUnavailableError(`the node was silent for ${silent * heartbeatMs} ms`));
      } else if (this.#up) {
        // If it fails, the stream fails, which is handled elsewhere.
        this.#ping().catch(() => undefined);
      }
    }, heartbeatMs);
  }

  #receive(message: Uint8Array, unrequested: Allowance): void {
    const envelope = readEnvelope(message);
    // Unknown ids are responses after the deadline or an abort.
    const pending = this.#take(envelope.id);
    if (pending === undefined) {
      if (!unrequested.take()) {
        throw new NodeProtocolError(`the node sends more than ${UNREQUESTED_PER_SECOND} notifications a second`);
      }
      if (envelope.id === 0) this.#options.onNotification?.(envelope);
      return;
    }
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
