/** One client of a stream: catches up from its cursor, then receives the steps of the follower. Every message is sent, or the stream is closed. */
import { HttpError, toHttpError } from '../http/errors.ts';
import type { Reading } from '../index-state/state.ts';
import type { Follower } from './follower.ts';
import { type Message, messagesOf, requestFor, serves, type Subscription } from './messages.ts';
import { readStep, type Step } from './read-step.ts';

/** A connection. */
export interface Output {
  send: (message: Message) => void;
  /** Bytes that the client has not taken yet. */
  readonly unsentBytes: number;
  /** Closes the connection. */
  close: (reason: 'error' | 'slow' | 'ended') => void;
}

const MAX_UNSENT_BYTES = 2 ** 20;
const DRAIN_CHECK_MS = 20;
const SLOW_AFTER_MS = 10_000;
const HEARTBEAT_MS = 15_000;

interface SubscriberOptions {
  follower: Follower;
  /** Reads the past, few streams at once. */
  streams: { catchUp: (read: (reading: Reading) => Promise<Step | undefined>) => Promise<Step | undefined> };
  output: Output;
  subscription: Subscription;
  cursor: string;
  blueScore: string;
}

export class Subscriber {
  readonly subscription: Subscription;
  readonly #options: SubscriberOptions;
  #cursor: string;
  #blueScore: string;
  #isLive = false;
  #isClosed = false;
  #slowSince: number | undefined;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #slowCheck: NodeJS.Timeout;

  constructor(options: SubscriberOptions) {
    this.#options = options;
    this.subscription = options.subscription;
    this.#cursor = options.cursor;
    this.#blueScore = options.blueScore;
    this.#heartbeat = setInterval(() => this.sendHeartbeat(), HEARTBEAT_MS).unref();
    this.#slowCheck = setInterval(() => this.#checkSpeed(), 1000).unref();
  }

  get cursor(): string {
    return this.#cursor;
  }

  start(): void {
    this.sendHeartbeat();
    this.#options.follower.add(this);
    void this.#catchUp();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    clearInterval(this.#slowCheck);
    this.#options.follower.remove(this);
  }

  sendHeartbeat(): void {
    const data = JSON.stringify({ sink: this.#cursor, blueScore: this.#blueScore });
    this.send({ event: 'heartbeat', data, id: this.#cursor });
  }

  send(message: Message): void {
    if (!this.#isClosed) this.#options.output.send(message);
  }

  /** Must be called when the subscription has changed: what follows may need other reads. */
  restart(): void {
    if (!this.#isLive) return;
    this.#isLive = false;
    void this.#catchUp();
  }

  onStep(step: Step): void {
    if (!this.#isLive) return;
    if (step.from === this.#cursor && serves(step, this.subscription)) this.#apply(step);
    else this.restart();
  }

  onBlock(message: Message): void {
    if (this.subscription.events.has('block')) this.send(message);
  }

  #apply(step: Step): void {
    this.#cursor = step.to;
    this.#blueScore = String(step.blueScore);
    for (const message of messagesOf(step, this.subscription)) this.send(message);
  }

  async #catchUp(): Promise<void> {
    const { follower, streams } = this.#options;
    try {
      while (!this.#isClosed && !this.#isLive) {
        if (this.#join()) return;
        const request = requestFor([this.subscription]);
        const step = await streams.catchUp((reading) => readStep(reading, this.#cursor, request));
        if (step === undefined) await follower.nextRead();
        else if (serves(step, this.subscription)) this.#apply(step);
        await this.#drained();
      }
    } catch (error) {
      this.fail(error);
    }
  }

  /** Goes over to the follower if it has everything from the cursor on. */
  #join(): boolean {
    const steps = this.#options.follower.stepsFrom(this.#cursor);
    if (steps === undefined || !steps.every((step) => serves(step, this.subscription))) return false;
    for (const step of steps) this.#apply(step);
    this.#isLive = true;
    return true;
  }

  fail(error: unknown): void {
    if (this.#isClosed) return;
    const { statusCode, message } = toHttpError(error) ?? new HttpError(500, 'Internal server error');
    this.send({ event: 'error', data: JSON.stringify({ statusCode, message }) });
    this.#isClosed = true;
    this.#options.output.close('error');
  }

  async #drained(): Promise<void> {
    while (!this.#isClosed && this.#options.output.unsentBytes > 0) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
    }
  }

  #checkSpeed(): void {
    if (this.#options.output.unsentBytes <= MAX_UNSENT_BYTES) {
      this.#slowSince = undefined;
      return;
    }
    const now = performance.now();
    this.#slowSince ??= now;
    if (now - this.#slowSince >= SLOW_AFTER_MS) this.#options.output.close('slow');
  }
}
