/** The streams of this process: what connections share, and the life of each. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '@kasgres/kaspa';
import type { Logger } from '@kasgres/runtime';
import type { FastifyRequest } from 'fastify';
import type { EventLoopTurns } from '../fairness/event-loop-turns.ts';
import { credentialOf } from '../http/authentication.ts';
import { HttpError, unavailable } from '../http/errors.ts';
import type { IndexReader, Reading } from '../index-state/state.ts';
import type { Admission } from '../limits/admission.ts';
import type { MempoolSamples } from '../mempool-samples.ts';
import { clientOf } from '../http/request-identity.ts';
import { Follower, type Sink, sinkOf } from './follower.ts';
import { MempoolEvents } from './mempool-events.ts';
import type { Subscription } from './messages.ts';
import { requireStart } from './read-step.ts';
import { type Output, Subscriber } from './subscriber.ts';

const CATCH_UPS = 4;
/** A replica may lag behind the one that the cursor came from. */
const UNKNOWN_CURSOR_MS = 10_000;
const RETRY_MS = 250;
const MINUTE_MS = 60_000;
const CHECK_KEYS_MS = 3000;
const RU_PER_MINUTE = 0.1;
const RETRY_AFTER_SECONDS = 5;
const NOT_IN_FORCE = 'The key or token is no longer valid';

interface StreamsOptions {
  index: IndexReader;
  turns: EventLoopTurns;
  mempool: MempoolSamples;
  admission: Admission;
  /** URL of the primary. */
  databaseUrl: string;
  logger: Logger;
  maxStreams: number;
}

/** The block that a stream begins at, and the sink of the index. */
export interface Start {
  cursor: string;
  sink: Sink;
}

export class Streams {
  readonly follower: Follower;
  readonly mempoolEvents: MempoolEvents;
  readonly sent = { messages: 0, bytes: 0 };
  readonly #options: StreamsOptions;
  readonly #catchUps = new Semaphore(CATCH_UPS);
  readonly #open = new Map<Output, { subscriber: Subscriber; credential: string | undefined }>();
  readonly #checkingKeys: NodeJS.Timeout;
  #isEnding = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.follower = new Follower(options);
    this.mempoolEvents = new MempoolEvents(options, this.follower.subscribers);
    this.#checkingKeys = setInterval(() => void this.#checkKeys(), CHECK_KEYS_MS).unref();
  }

  get maxStreams(): number {
    return this.#options.maxStreams;
  }

  get connections(): number {
    return this.#open.size;
  }

  /** Closes every stream. Clients continue at another process, from their cursors. */
  end(): void {
    this.#isEnding = true;
    for (const output of this.#open.keys()) output.close('ended');
  }

  async close(): Promise<void> {
    clearInterval(this.#checkingKeys);
    this.mempoolEvents.close();
    await this.follower.close();
  }

  /** @throws HttpError 503 if there are too many streams */
  requireRoom(): void {
    if (this.#isEnding || this.#open.size >= this.#options.maxStreams) {
      throw unavailable('This server has too many streams', RETRY_AFTER_SECONDS);
    }
  }

  /**
   * Finds the block to begin at: that of the request, or the sink.
   * @throws HttpError 404 if it is unknown, 409 if the chain cannot be followed from it
   */
  async findStart(
    from: Uint8Array | undefined,
    subscription: Subscription,
    unknownForMs = UNKNOWN_CURSOR_MS,
  ): Promise<Start> {
    if (from === undefined) return await this.#startAtSink();
    const cursor = toHex(from);
    const { sink } = this.follower;
    if (sink !== undefined && this.follower.has(cursor)) return { cursor, sink };
    const until = performance.now() + unknownForMs;
    for (;;) {
      try {
        const withAddresses = subscription.addresses.size > 0;
        return await this.catchUp(async (reading) => {
          await requireStart(reading, from, withAddresses);
          return { cursor, sink: sinkOf(reading.state) };
        });
      } catch (error) {
        const isUnknown = error instanceof HttpError && error.statusCode === 404;
        if (!isUnknown || performance.now() > until) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  /** Begins at a block that the follower knows, if it runs, since a stream then needs no separate reads. */
  async #startAtSink(): Promise<Start> {
    const sink = sinkOf(await this.#options.index.getState());
    const start = { cursor: sink.hash, sink };
    if (this.follower.subscribers.size === 0 || this.follower.has(sink.hash)) return start;
    await this.follower.nextRead();
    const { cursor, sink: newer = sink } = this.follower;
    return cursor === undefined || this.follower.has(sink.hash) ? start : { cursor, sink: newer };
  }

  /** Reads a part of the past of a stream. */
  catchUp<T>(read: (reading: Reading) => Promise<T>): Promise<T> {
    return this.#catchUps.run(() => this.#options.index.read(read, 'stream catch-up'));
  }

  /** Begins a stream. It must be closed when its connection closes, and is closed before it closes the connection itself. */
  open(
    request: FastifyRequest,
    output: Output,
    subscription: Subscription,
    { cursor, sink }: Start,
  ): { subscriber: Subscriber; close: () => void } {
    const counted: Output = {
      send: (messages) => {
        this.sent.messages += messages.length;
        for (const { data } of messages) this.sent.bytes += data.length;
        output.send(messages);
      },
      get unsentBytes() {
        return output.unsentBytes;
      },
      close: (reason) => {
        close();
        output.close(reason);
      },
    };
    const subscriber = new Subscriber({
      follower: this.follower,
      streams: this,
      output: counted,
      logger: this.#options.logger,
      requestId: request.id,
      subscription,
      cursor,
      sink,
    });
    const credential = credentialOf(request);
    this.#open.set(counted, { subscriber, credential });
    let charging: NodeJS.Timeout | undefined;
    const chargeAfter = (ms: number): void => {
      if (!this.#open.has(counted)) return;
      charging = setTimeout(() => void this.#charge(request, subscriber).then(chargeAfter), ms).unref();
    };
    chargeAfter(MINUTE_MS);
    const close = (): void => {
      clearTimeout(charging);
      this.#open.delete(counted);
      subscriber.close();
    };
    subscriber.start();
    this.mempoolEvents.wake();
    return { subscriber, close };
  }

  /** Ends the streams of keys and tokens that were revoked or have expired. */
  async #checkKeys(): Promise<void> {
    const { admission, logger } = this.#options;
    const byCredential = Map.groupBy(this.#open.values(), ({ credential }) => credential);
    try {
      for (const [credential, streams] of byCredential) {
        if (credential === undefined || (await admission.isInForce(credential))) continue;
        for (const { subscriber } of streams) subscriber.fail(new HttpError(401, NOT_IN_FORCE));
      }
    } catch (error) {
      // During an outage of the database, streams continue.
      logger.warn({ reason: String(error) }, 'could not check the keys of streams');
    }
  }

  /**
   * Charges a minute. Ends the stream of a key that is not in force or has spent its quota; one that is over its limits at the moment is
   * charged later. Returns the milliseconds until the next charge.
   */
  async #charge(request: FastifyRequest, subscriber: Subscriber): Promise<number> {
    const { admission, logger } = this.#options;
    try {
      const credential = credentialOf(request);
      const admitted = await (credential === undefined
        ? admission.admitAnonymous(clientOf(request.ip), RU_PER_MINUTE)
        : admission.admit(credential, RU_PER_MINUTE));
      if (admitted === undefined) subscriber.fail(new HttpError(401, NOT_IN_FORCE));
      else if (admitted.verdict?.refusal === 'quota') subscriber.fail(new HttpError(429, 'Rate limit exceeded'));
      else if (admitted.verdict?.refusal !== undefined) return admitted.verdict.resetSeconds * 1000;
      else if (admitted.verdict !== undefined) admission.release(admitted.apiKey);
    } catch (error) {
      // During an outage of the database, streams continue.
      logger.warn({ reason: String(error) }, 'could not charge a stream');
    }
    return MINUTE_MS;
  }
}

/** Runs at most a number of tasks at once; the others wait in order. */
class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
