/**
 * A connection to a node as one of its peers. It handles the requests that a node sends to every peer, and queues the other messages. While
 * the queue is full, the stream is paused, which blocks the node.
 */
import { randomBytes } from 'node:crypto';
import type { NetworkId } from '@kasgres/kaspa';
import { NodeUnavailableError, NodeUnsuitableError, PeerRejectedError } from '../errors.ts';
import type { PeerVersion } from '../generated/p2p_pb.ts';
import { MessageStream } from '../message-stream.ts';
import { parseNodeAddress } from '../node-address.ts';
import { encodePeerMessage, type PeerPayload, readPeerMessage, type ReceivedPayload } from './peer-message.ts';

const PATH = '/protowire.P2P/MessageStream';
const USER_AGENT = '/kasgres:0.1.0/';
const ID_BYTES = 16;
const WINDOW_BYTES = 1024 * 1024;
/** A thousand UTXOs with the longest scripts that a block can hold. */
const RECEIVE_LIMIT_BYTES = 2 ** 29;
const QUEUE_LIMIT = 4;

export interface PeerOptions {
  /** The p2p address of the node, not its RPC. */
  url: string;
  /** How long the node may send nothing while a message is awaited. */
  silenceMs: number;
  signal?: AbortSignal | undefined;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly #stream: MessageStream;
  readonly #queue: ReceivedPayload[] = [];
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
      onMessage: (message) => this.#receive(readPeerMessage(message)),
      onClose: (reason) => this.#fail(reason),
    });
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Resolves when both sides are ready. Throws NodeUnsuitableError if the node is on another network. */
  async greet(network: NetworkId): Promise<void> {
    const { value: theirs } = await this.#until((payload) => payload.case === 'version');
    const name = `kaspa-${network}`;
    if (theirs.network !== name) {
      throw new NodeUnsuitableError(
        'wrong-network',
        `the node at ${this.#options.url} is of ${theirs.network} instead of ${name}: set the p2p address of a node of ${name}`,
      );
    }
    this.send({ case: 'version', value: introduction(theirs) });
    this.send({ case: 'verack', value: {} });
    await this.#until((payload) => payload.case === 'ready');
    this.send({ case: 'ready', value: {} });
  }

  send(payload: PeerPayload): void {
    this.#stream.send(encodePeerMessage(payload));
  }

  /**
   * Returns the next message, also after the connection was closed if one is queued. Throws NodeUnavailableError, NodeProtocolError,
   * PeerRejectedError or the signal's reason.
   */
  async next(): Promise<ReceivedPayload> {
    while (this.#queue.length === 0) {
      if (this.#closed !== undefined) throw this.#closed.reason;
      await this.#untilChange();
    }
    const payload = this.#queue.shift() as ReceivedPayload;
    if (this.#queue.length < QUEUE_LIMIT) this.#stream.resume();
    return payload;
  }

  close(): void {
    this.#stream.close(new NodeUnavailableError('the connection to the peer was closed'));
  }

  async #until<P extends ReceivedPayload>(isWanted: (payload: ReceivedPayload) => payload is P): Promise<P> {
    for (;;) {
      const payload = await this.next();
      if (isWanted(payload)) return payload;
    }
  }

  async #untilChange(): Promise<void> {
    const { url, silenceMs } = this.#options;
    let received = this.#stream.bytesReceived;
    const timer = setInterval(() => {
      // A large message on a slow connection is not silence.
      const { bytesReceived } = this.#stream;
      if (bytesReceived === received) {
        this.#stream.close(new NodeUnavailableError(`the node at ${url} was silent for ${silenceMs} ms`));
      }
      received = bytesReceived;
    }, silenceMs);
    await this.#change.promise;
    clearInterval(timer);
  }

  #receive(payload: ReceivedPayload): void {
    if (payload.case === undefined) return;
    if (payload.case === 'ping') return this.send({ case: 'pong', value: { nonce: payload.value.nonce } });
    if (payload.case === 'requestAddresses') return this.send({ case: 'addresses', value: {} });
    if (payload.case === 'reject') {
      const { url } = this.#options;
      this.#fail(new PeerRejectedError(`the node at ${url} rejected this peer: ${payload.value.reason}`));
      return this.close();
    }
    this.#queue.push(payload);
    if (this.#queue.length >= QUEUE_LIMIT) this.#stream.pause();
    this.#notify();
  }

  readonly #abort = (): void => {
    this.#fail(this.#options.signal?.reason);
    this.#queue.length = 0;
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

/** Repeats the node's protocol version, since it rejects older ones. The messages used here are the same in all versions. */
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
