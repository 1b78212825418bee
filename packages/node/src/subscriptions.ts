/**
 * The subscriptions of a connection. The node forgets them with the stream, so they are renewed
 * whenever a stream is up. Missed notifications are not replaced.
 */
import type { Logger } from '@kasgres/runtime';
import type { Notification, Topic } from './calls.ts';
import { decodeResponse, type Envelope, getResponseField, parseBody } from './envelope.ts';
import { NodeProtocolError, NodeUnavailableError } from './errors.ts';
import { NotifyCommand } from './generated/kaspad_pb.ts';
import type { NodeConnection } from './node-connection.ts';

export interface SubscribeOptions {
  /** For `virtualChainChanged` (default false). */
  includeAcceptedTransactionIds?: boolean;
  /**
   * Called at each confirmation of the node, so also after a reconnect, before which notifications
   * may have been missed.
   */
  onSubscribed?: () => void;
  /** Aborting closes the subscription. */
  signal?: AbortSignal;
}

export interface Subscription {
  close(): void;
}

interface Subscriber extends SubscribeOptions {
  topics: readonly Topic[];
  onNotification: (notification: Notification) => void;
}

const requestOf = {
  blockAdded: 'notifyBlockAdded',
  virtualChainChanged: 'notifyVirtualChainChanged',
  sinkBlueScoreChanged: 'notifySinkBlueScoreChanged',
  virtualDaaScoreChanged: 'notifyVirtualDaaScoreChanged',
  pruningPointUtxoSetOverride: 'notifyPruningPointUtxoSetOverride',
  newBlockTemplate: 'notifyNewBlockTemplate',
} as const satisfies Record<Topic, string>;

const topicByField = new Map(
  (Object.keys(requestOf) as Topic[]).map((topic) => [getResponseField(`${topic}Notification`).number, topic]),
);

export class Subscriptions {
  readonly #connection: NodeConnection;
  readonly #deadlineMs: number;
  readonly #logger: Logger | undefined;
  readonly #subscribers = new Set<Subscriber>();

  constructor(connection: NodeConnection, deadlineMs: number, logger: Logger | undefined) {
    this.#connection = connection;
    this.#deadlineMs = deadlineMs;
    this.#logger = logger;
  }

  add(subscriber: Subscriber): Subscription {
    const close = (): void => {
      subscriber.signal?.removeEventListener('abort', close);
      if (this.#subscribers.delete(subscriber)) this.#stopUnused(subscriber.topics);
    };
    if (subscriber.signal?.aborted === true) return { close };
    subscriber.signal?.addEventListener('abort', close, { once: true });
    this.#subscribers.add(subscriber);
    if (this.#connection.up) void this.#start(subscriber);
    return { close };
  }

  /** Must be called whenever the stream is up. */
  renew(): void {
    for (const subscriber of this.#subscribers) void this.#start(subscriber);
  }

  /** Must be called with every notification of the stream. Throws NodeProtocolError. */
  deliver(envelope: Envelope): void {
    const topic = topicByField.get(envelope.field ?? 0);
    const recipients = [...this.#subscribers].filter(({ topics }) => topic !== undefined && topics.includes(topic));
    if (topic === undefined || recipients.length === 0) return;
    const message = parseBody(`${topic}Notification`, envelope.body);
    for (const subscriber of recipients) {
      try {
        subscriber.onNotification({ topic, message } as Notification);
      } catch (error) {
        this.#logger?.error({ err: error, topic }, 'a notification was not handled');
      }
    }
  }

  async #start(subscriber: Subscriber): Promise<void> {
    const { topics, onSubscribed } = subscriber;
    try {
      await Promise.all(topics.map((topic) => this.#command(topic, NotifyCommand.NOTIFY_START)));
    } catch (error) {
      this.#logger?.warn({ err: error, topics }, 'could not subscribe');
      // A new stream renews all subscriptions. An error response of the node would only recur.
      if (error instanceof NodeUnavailableError || error instanceof NodeProtocolError)
        this.#connection.reconnect(error);
      return;
    }
    if (this.#subscribers.has(subscriber)) onSubscribed?.();
  }

  #stopUnused(topics: readonly Topic[]): void {
    if (!this.#connection.up) return;
    const used = new Set([...this.#subscribers].flatMap((subscriber) => subscriber.topics));
    for (const topic of topics) {
      // A failure is harmless: notifications without a subscriber are ignored.
      if (!used.has(topic)) this.#command(topic, NotifyCommand.NOTIFY_STOP).catch(() => undefined);
    }
  }

  async #command(topic: Topic, command: NotifyCommand): Promise<void> {
    const op = requestOf[topic];
    const includeAcceptedTransactionIds = [...this.#subscribers].some((s) => s.includeAcceptedTransactionIds === true);
    const request = topic === 'virtualChainChanged' ? { command, includeAcceptedTransactionIds } : { command };
    await this.#connection.request(op, request, (body) => decodeResponse(op, body), { deadlineMs: this.#deadlineMs });
  }
}
