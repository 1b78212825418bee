/**
 * One client of a stream: catches up from its cursor, then receives the steps of the follower.
 * Every message is sent, or the stream is closed.
 */
import {
  type EventName,
  type Message,
  messagesOf,
  requestFor,
  serves,
  type Sink,
  type Step,
  type StepRequest,
  type Subscription,
  toMessage,
} from '@kasgres/chain-steps';
import { HttpError, unavailable } from '@kasgres/reads';
import type { Logger } from '@kasgres/runtime';
import { internalError } from '../http/error-envelope.ts';
import { toHttpError } from '../http/to-http-error.ts';

/** A connection. */
export interface Output {
  /** Sends all of these messages at once. */
  send: (messages: readonly Message[]) => void;
  /** Bytes that the client has not taken yet. */
  readonly unsentBytes: number;
  /** Closes the connection. */
  close: (reason: 'error' | 'slow' | 'ended') => void;
}

const MAX_UNSENT_BYTES = 2 ** 20;
const DRAIN_CHECK_MS = 20;
const SPEED_CHECK_MS = 1000;
const SLOW_AFTER_MS = 10_000;
const HEARTBEAT_MS = 15_000;
const READ_APART_MS = 1000;
const RETRY_AFTER_SECONDS = 5;

/** The follower of all streams (follower.ts). */
export interface SharedReader {
  readonly sink: Sink | undefined;
  add: (subscriber: Subscriber) => void;
  remove: (subscriber: Subscriber) => void;
  /** Resolves after the next read. */
  nextRead: () => Promise<void>;
  /** Returns the steps from a block on, if all of them are kept. */
  stepsFrom: (hash: string) => readonly Step[] | undefined;
}

interface SubscriberOptions {
  follower: SharedReader;
  /** Reads the past, few streams at once. */
  streams: { readStep: (caller: string, from: string, request: StepRequest) => Promise<Step | undefined> };
  /** The caller that owns the stream. */
  caller: string;
  /** Whether the caller has no key. */
  isAnonymous: boolean;
  output: Output;
  logger: Logger;
  /** The id of the request that opened the connection. */
  requestId: string;
  subscription: Subscription;
  cursor: string;
  /** The sink of the index when the stream begins. */
  sink: Sink;
}

/** The parts that a subscription must no longer have. */
interface Unsubscribed {
  events: readonly EventName[];
  addresses: readonly string[];
  covenants: readonly string[];
  template?: string | undefined;
}

export class Subscriber {
  readonly subscription: Subscription;
  readonly #options: SubscriberOptions;
  #cursor: string;
  #revision = 0;
  #isLive = false;
  #isClosed = false;
  readonly #heartbeat: NodeJS.Timeout;
  /** When the past was read last, by performance.now(). */
  #readAt = Number.NEGATIVE_INFINITY;
  #apart: NodeJS.Timeout | undefined;
  /** Runs while too much is unsent: most clients never need one. */
  #speedCheck: NodeJS.Timeout | undefined;

  constructor(options: SubscriberOptions) {
    this.#options = options;
    this.subscription = options.subscription;
    this.#cursor = options.cursor;
    this.#heartbeat = setInterval(
      () => this.#sendHeartbeat(options.follower.sink ?? options.sink),
      HEARTBEAT_MS,
    ).unref();
  }

  get caller(): string {
    return this.#options.caller;
  }

  get isAnonymous(): boolean {
    return this.#options.isAnonymous;
  }

  /** Grows with each change of the subscription. */
  get revision(): number {
    return this.#revision;
  }

  get cursor(): string {
    return this.#cursor;
  }

  start(): void {
    const { follower, sink } = this.#options;
    this.#sendHeartbeat(sink);
    follower.add(this);
    void this.#catchUp();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    clearInterval(this.#speedCheck);
    clearTimeout(this.#apart);
    this.#options.follower.remove(this);
  }

  #sendHeartbeat({ hash, blueScore }: Sink): void {
    this.send([toMessage('heartbeat', { sink: hash, blueScore: String(blueScore) }, this.#cursor)]);
  }

  send(messages: readonly Message[]): void {
    if (this.#isClosed || messages.length === 0) return;
    const { output } = this.#options;
    output.send(messages);
    if (this.#speedCheck === undefined && output.unsentBytes > MAX_UNSENT_BYTES) this.#watchSpeed();
  }

  /** Adds to the subscription, from the cursor on, which is returned. */
  subscribe({ events, addresses, covenants, template, confirmations, withIds }: Subscription): string {
    const { subscription } = this;
    for (const event of events) subscription.events.add(event);
    for (const address of addresses) subscription.addresses.add(address);
    for (const covenant of covenants) subscription.covenants.add(covenant);
    subscription.template = template ?? subscription.template;
    subscription.confirmations = confirmations ?? subscription.confirmations;
    subscription.withIds ||= withIds;
    this.#revision += 1;
    this.restart();
    return this.#cursor;
  }

  /**
   * First sends what happened from a block up to the cursor, and then subscribes, so that no step
   * is left out or sent twice. These messages have no ids, since the cursor is that of the whole
   * connection, which receives its other events meanwhile.
   */
  async subscribeFrom(from: string, added: Subscription): Promise<string> {
    const { follower, streams, caller } = this.#options;
    const { confirmations, withIds } = this.subscription;
    const past: Subscription = {
      ...added,
      confirmations: added.confirmations ?? confirmations,
      withIds: added.withIds || withIds,
    };
    let reached = from;
    while (!this.#isClosed && reached !== this.#cursor) {
      const request = { ...requestFor([past]), upTo: this.#cursor };
      const step = await streams.readStep(caller, reached, request);
      // After a reorg, the cursor may not be on the chain yet.
      if (step === undefined) await follower.nextRead();
      else {
        this.send(messagesOf(step, past).map(({ id: _id, ...message }) => message));
        reached = step.to;
      }
      await this.#drained();
    }
    return this.subscribe(added);
  }

  unsubscribe({ events, addresses, covenants, template }: Unsubscribed): string {
    const { subscription } = this;
    for (const event of events) subscription.events.delete(event);
    for (const address of addresses) subscription.addresses.delete(address);
    for (const covenant of covenants) subscription.covenants.delete(covenant);
    if (template === subscription.template) subscription.template = undefined;
    this.#revision += 1;
    return this.#cursor;
  }

  /** Must be called when what follows may need other reads than those of the follower. */
  restart(): void {
    if (!this.#isLive) return;
    this.#isLive = false;
    void this.#catchUp();
  }

  /** Sends new blocks, and the steps that the follower has read since the cursor. */
  onRead(blocks: readonly Message[]): void {
    const ofBlocks = this.subscription.events.has('block') ? blocks : [];
    const steps = this.#isLive ? this.#newSteps() : [];
    this.send([...ofBlocks, ...(steps ?? []).flatMap((step) => this.#advance(step))]);
    if (steps === undefined) this.#readApart();
  }

  /**
   * Reads what the follower does not have for this stream, at most once a second: the longer the
   * pause, the more steps one read has.
   */
  #readApart(): void {
    const pauseMs = this.#readAt + READ_APART_MS - performance.now();
    if (pauseMs <= 0) this.restart();
    else
      this.#apart ??= setTimeout(() => {
        this.#apart = undefined;
        this.restart();
      }, pauseMs).unref();
  }

  /** Returns undefined if they are not all known with everything that this needs. */
  #newSteps(): readonly Step[] | undefined {
    const steps = this.#options.follower.stepsFrom(this.#cursor);
    return steps?.every((step) => serves(step, this.subscription)) === true ? steps : undefined;
  }

  /** Moves the cursor, and returns what must be sent for that. */
  #advance(step: Step): readonly Message[] {
    this.#cursor = step.to;
    return messagesOf(step, this.subscription);
  }

  async #catchUp(): Promise<void> {
    const { follower, streams, caller } = this.#options;
    try {
      while (!this.#isClosed && !this.#isLive) {
        if (this.#join()) return;
        const request = requestFor([this.subscription]);
        const revision = this.#revision;
        this.#readAt = performance.now();
        const step = await streams.readStep(caller, this.#cursor, request);
        if (step === undefined) await follower.nextRead();
        else if (revision === this.#revision) this.send(this.#advance(step));
        await this.#drained();
      }
    } catch (error) {
      const isUnknown = error instanceof HttpError && error.statusCode === 404;
      // A database that took over from the one that had the block may be behind. A client that
      // connects again is told if the block stays unknown.
      this.fail(isUnknown ? unavailable('The block of the cursor is not known now', RETRY_AFTER_SECONDS) : error);
    }
  }

  /** Goes over to the follower if it has everything from the cursor on. */
  #join(): boolean {
    const steps = this.#newSteps();
    if (steps === undefined) return false;
    for (const step of steps) this.send(this.#advance(step));
    this.#isLive = true;
    return true;
  }

  fail(error: unknown): void {
    if (this.#isClosed) return;
    const { output, logger, requestId } = this.#options;
    const known = toHttpError(error);
    if (known === undefined) logger.error({ err: error, requestId }, 'ended a stream after an unexpected error');
    const { statusCode, message } = known ?? internalError(requestId);
    this.#isClosed = true;
    output.send([toMessage('error', { statusCode, message })]);
    output.close('error');
  }

  async #drained(): Promise<void> {
    while (!this.#isClosed && this.#options.output.unsentBytes > 0) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
    }
  }

  /** Closes the connection unless it recovers in time. */
  #watchSpeed(): void {
    const { output } = this.#options;
    const since = performance.now();
    this.#speedCheck = setInterval(() => {
      const isSlow = output.unsentBytes > MAX_UNSENT_BYTES;
      if (isSlow && performance.now() - since < SLOW_AFTER_MS) return;
      clearInterval(this.#speedCheck);
      this.#speedCheck = undefined;
      if (isSlow) output.close('slow');
    }, SPEED_CHECK_MS).unref();
  }
}
