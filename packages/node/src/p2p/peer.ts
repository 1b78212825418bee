/**
 * A connection to a node as one of its peers. It handles the requests that a node sends to every
 * peer, and queues the other messages. While the queue is full, the stream is paused, which blocks
 * the node. Any peer may be hostile: only what the caller calls progress keeps the connection open,
 * and all that comes and goes between two steps of progress is bounded.
 */
import { randomBytes } from 'node:crypto';
import type { NetworkId } from '@kasgres/kaspa';
import { VERSION } from '@kasgres/runtime';
import {
  NodeProtocolError,
  NodeUnavailableError,
  NodeUnsuitableError,
  PeerRejectedError,
  shortText,
} from '../errors.ts';
import type { PeerVersion } from '../generated/p2p_pb.ts';
import { MessageStream } from '../message-stream.ts';
import { parseNodeAddress } from '../node-address.ts';
import { encodePeerMessage, type PeerPayload, readPeerMessage, type ReceivedPayload } from './peer-message.ts';

const PATH = '/protowire.P2P/MessageStream';
const USER_AGENT = `/kasgres:${VERSION}/`;
const ID_BYTES = 16;
const WINDOW_BYTES = 1024 * 1024;
/**
 * A thousand UTXOs with the longest scripts that a block can hold: 500,000 grams at 11 for each
 * byte.
 */
const RECEIVE_LIMIT_BYTES = 64 * 1024 * 1024;
/** Responses to some thousand pings. */
const SEND_LIMIT_BYTES = 64 * 1024;
const QUEUE_LIMIT = 4;
const QUEUE_LIMIT_BYTES = 16 * 1024 * 1024;
/**
 * Between two steps of progress. A node announces ten blocks a second, and pings every two minutes.
 */
const LIMITS = { messages: 20_000, bytes: 2 * RECEIVE_LIMIT_BYTES, replies: 100 };
const UNITS = { messages: 'messages', bytes: 'bytes', replies: 'pings' } as const;
const NAME_LENGTH = 100;

export interface PeerOptions {
  /** The p2p address of the node, not its RPC. */
  url: string;
  /** How long messages may be awaited without progress. */
  silenceMs: number;
  signal?: AbortSignal | undefined;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly #stream: MessageStream;
  readonly #queue: ReceivedPayload[] = [];
  #queuedBytes = 0;
  /** Since the last progress. */
  #received = { messages: 0, bytes: 0, replies: 0 };
  #waitedMs = 0;
  /** Resolves at the next message, or when the connection is closed. */
  #change = Promise.withResolvers<void>();
  #closed: { reason: unknown } | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
    options.signal?.throwIfAborted();
    this.#stream = new MessageStream({
      address: parseNodeAddress(options.url),
      path: PATH,
      windowBytes: WINDOW_BYTES,
      receiveLimitBytes: RECEIVE_LIMIT_BYTES,
      sendLimitBytes: SEND_LIMIT_BYTES,
      onMessage: (message) => {
        this.#count('messages', 1);
        this.#count('bytes', message.length);
        this.#receive(readPeerMessage(message));
      },
      onClose: (reason) => this.#fail(reason),
    });
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /**
   * Resolves when both sides are ready. Throws NodeUnsuitableError if the node is on another
   * network.
   */
  async greet(network: NetworkId): Promise<void> {
    const { value: theirs } = await this.#until((payload) => payload.case === 'version');
    const name = `kaspa-${network}`;
    if (theirs.network !== name) {
      throw new NodeUnsuitableError(
        'wrong-network',
        `the node at ${this.#options.url} is of ${shortText(theirs.network, NAME_LENGTH)} instead of ${name}: set the p2p address of a node of ${name}`,
      );
    }
    this.send({ case: 'version', value: introduction(theirs) });
    this.send({ case: 'verack', value: {} });
    await this.#until((payload) => payload.case === 'ready');
    this.send({ case: 'ready', value: {} });
    this.progressed();
  }

  /** Must be called when the peer has sent what it is here for: limits count from then on. */
  progressed(): void {
    this.#received = { messages: 0, bytes: 0, replies: 0 };
    this.#waitedMs = 0;
  }

  send(payload: PeerPayload): void {
    this.#stream.send(encodePeerMessage(payload));
  }

  /**
   * Returns the next message, also after the connection was closed if one is queued. Throws
   * NodeUnavailableError, NodeProtocolError, PeerRejectedError or the signal's reason.
   */
  async next(): Promise<ReceivedPayload> {
    while (this.#queue.length === 0) {
      if (this.#closed !== undefined) throw this.#closed.reason;
      await this.#untilChange();
    }
    const payload = this.#queue.shift() as ReceivedPayload;
    this.#queuedBytes -= bytesOf(payload);
    if (!this.#isFull) this.#stream.resume();
    return payload;
  }

  close(reason = new NodeUnavailableError('the connection to the peer was closed')): void {
    this.#stream.close(reason);
  }

  async #until<P extends ReceivedPayload>(isWanted: (payload: ReceivedPayload) => payload is P): Promise<P> {
    for (;;) {
      const payload = await this.next();
      if (isWanted(payload)) return payload;
    }
  }

  get #isFull(): boolean {
    return this.#queue.length >= QUEUE_LIMIT || this.#queuedBytes >= QUEUE_LIMIT_BYTES;
  }

  /** The time in which the caller is busy does not count. */
  async #untilChange(): Promise<void> {
    const { url, silenceMs } = this.#options;
    const begunAt = performance.now();
    const timer = setTimeout(
      () => this.#stream.close(new NodeUnavailableError(`the node at ${url} was silent for ${silenceMs} ms`)),
      silenceMs - this.#waitedMs,
    );
    await this.#change.promise;
    clearTimeout(timer);
    this.#waitedMs += performance.now() - begunAt;
  }

  /**
   * Throws NodeProtocolError, which closes the stream, for a peer that keeps this side busy without
   * progress.
   */
  #count(what: keyof typeof LIMITS, amount: number): void {
    this.#received[what] += amount;
    if (this.#received[what] <= LIMITS[what]) return;
    const { url } = this.#options;
    throw new NodeProtocolError(`the node at ${url} sent more than ${LIMITS[what]} ${UNITS[what]} without progress`);
  }

  #reply(payload: PeerPayload): void {
    this.#count('replies', 1);
    this.send(payload);
  }

  #receive(payload: ReceivedPayload | undefined): void {
    if (payload === undefined) return;
    if (payload.case === 'ping') return this.#reply({ case: 'pong', value: { nonce: payload.value.nonce } });
    if (payload.case === 'requestAddresses') return this.#reply({ case: 'addresses', value: {} });
    if (payload.case === 'reject') {
      const { url } = this.#options;
      this.#fail(new PeerRejectedError(`the node at ${url} rejected this peer: ${shortText(payload.value.reason)}`));
      return this.close();
    }
    this.#queue.push(payload);
    this.#queuedBytes += bytesOf(payload);
    if (this.#isFull) this.#stream.pause();
    this.#notify();
  }

  readonly #abort = (): void => {
    this.#fail(this.#options.signal?.reason);
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    this.close();
  };

  #fail(reason: unknown): void {
    this.#closed ??= { reason };
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#notify();
  }

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

function bytesOf(payload: ReceivedPayload): number {
  return payload.case === 'pruningPointUtxoSetChunk' ? payload.chunk.length : 0;
}

/**
 * Repeats the node's protocol version, since it rejects older ones. The messages used here are the
 * same in all versions.
 */
function introduction({ protocolVersion, network }: PeerVersion): Extract<PeerPayload, { case: 'version' }>['value'] {
  return {
    protocolVersion,
    timestamp: BigInt(Date.now()),
    id: randomBytes(ID_BYTES),
    userAgent: USER_AGENT,
    disableRelayTx: true,
    network,
  };
}
