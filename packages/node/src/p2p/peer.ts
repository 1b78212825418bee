/**
 * A conversation with a node as one of its peers: what it asks of every peer is answered here, what it tells us waits until it is
 * asked for. Only a few messages wait; then the stream stands still until one is taken, and the node with it.
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
const MOST_WAITING = 4;

export interface PeerOptions {
  /** The node's p2p, not its RPC. */
  url: string;
  /** How long it may send nothing at all while something is expected of it. */
  silenceMs: number;
  signal?: AbortSignal | undefined;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly #stream: MessageStream;
  readonly #waiting: ReceivedPayload[] = [];
  /** Resolved when a message comes or the conversation is over. */
  #news = Promise.withResolvers<void>();
  #over: { reason: unknown } | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
    options.signal?.throwIfAborted();
    this.#stream = new MessageStream({
      address: parseNodeAddress(options.url),
      path: PATH,
      windowBytes: WINDOW_BYTES,
      receiveLimitBytes: RECEIVE_LIMIT_BYTES,
      onMessage: (message) => this.#receive(readPeerMessage(message)),
      onEnd: (reason) => this.#end(reason),
    });
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Resolves when both sides are ready. Throws NodeUnsuitableError where the node is of another network. */
  async greet(network: NetworkId): Promise<void> {
    const { value: theirs } = await this.#until((payload) => payload.case === 'version');
    const name = `kaspa-${network}`;
    if (theirs.network !== name) {
      throw new NodeUnsuitableError(
        'wrong-network',
        `the node at ${this.#options.url} is of ${theirs.network}, and ${name} is asked for: give the p2p address of one of its nodes`,
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
   * The next message. What came in before the end is still told. Throws NodeUnavailableError, NodeProtocolError,
   * PeerRejectedError or the signal's reason.
   */
  async next(): Promise<ReceivedPayload> {
    while (this.#waiting.length === 0) {
      if (this.#over !== undefined) throw this.#over.reason;
      await this.#untilNews();
    }
    const payload = this.#waiting.shift() as ReceivedPayload;
    if (this.#waiting.length < MOST_WAITING) this.#stream.resume();
    return payload;
  }

  close(): void {
    this.#stream.end(new NodeUnavailableError('the conversation was closed'));
  }

  async #until<P extends ReceivedPayload>(isWanted: (payload: ReceivedPayload) => payload is P): Promise<P> {
    for (;;) {
      const payload = await this.next();
      if (isWanted(payload)) return payload;
    }
  }

  async #untilNews(): Promise<void> {
    const { url, silenceMs } = this.#options;
    let heard = this.#stream.bytesReceived;
    const timer = setInterval(() => {
      // A large message on a slow line is no silence.
      const { bytesReceived } = this.#stream;
      if (bytesReceived === heard) {
        this.#stream.end(new NodeUnavailableError(`the node at ${url} was silent for ${silenceMs} ms`));
      }
      heard = bytesReceived;
    }, silenceMs);
    await this.#news.promise;
    clearInterval(timer);
  }

  #receive(payload: ReceivedPayload): void {
    if (payload.case === undefined) return;
    if (payload.case === 'ping') return this.send({ case: 'pong', value: { nonce: payload.value.nonce } });
    if (payload.case === 'requestAddresses') return this.send({ case: 'addresses', value: {} });
    if (payload.case === 'reject') {
      const { url } = this.#options;
      this.#end(new PeerRejectedError(`the node at ${url} does not talk to us: ${payload.value.reason}`));
      return this.close();
    }
    this.#waiting.push(payload);
    if (this.#waiting.length >= MOST_WAITING) this.#stream.pause();
    this.#tell();
  }

  readonly #abort = (): void => {
    this.#end(this.#options.signal?.reason);
    this.#waiting.length = 0;
    this.close();
  };

  #end(reason: unknown): void {
    this.#over ??= { reason };
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#tell();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}

/** The node refuses peers that speak an older version than it does; of what we say, all have the same meaning. */
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
