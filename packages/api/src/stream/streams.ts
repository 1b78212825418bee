/** The streams of this process: what connections share, and the life of each. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  readStep,
  requireStart,
  type Sink,
  type Step,
  type StepRequest,
  type Subscription,
  watchesChanges,
} from '@kasgres/chain-steps';
import { toHex } from '@kasgres/kaspa';
import { type EventLoopTurns, FairQueue, HttpError, type IndexReader, unavailable } from '@kasgres/reads';
import type { Logger } from '@kasgres/runtime';
import type { FastifyRequest } from 'fastify';
import { credentialOf } from '../limits/credential.ts';
import type { Admission } from '../limits/admission.ts';
import type { MempoolSamples } from '../node/mempool-samples.ts';
import { callerOf, clientOf } from '../http/request-identity.ts';
import { Follower, sinkOf } from './follower.ts';
import { MempoolEvents } from './mempool-events.ts';
import { type StreamSlot, StreamSlots } from './stream-slots.ts';
import { type Output, Subscriber } from './subscriber.ts';

const CATCH_UPS = 4;
/** A stream waits for its turn as long as it takes: only requests have a time limit. */
const MAX_CATCH_UP_WAIT_MS = 3_600_000;
/** Addresses and covenants of the streams of all processes together, about 250 bytes each. */
const MAX_WATCHED = 400_000;
/** A replica may lag behind the one that the cursor came from. */
const UNKNOWN_CURSOR_MS = 10_000;
const RETRY_MS = 250;
const MINUTE_MS = 60_000;
const CHECK_KEYS_MS = 3000;
const RU_PER_MINUTE = 0.1;
const RETRY_AFTER_SECONDS = 5;
const NOT_IN_FORCE = 'The key or token is no longer valid';

const isAnonymous = ({ apiKey }: FastifyRequest): boolean => apiKey?.id == null;

interface StreamsOptions {
  index: IndexReader;
  turns: EventLoopTurns;
  mempool: MempoolSamples;
  admission: Admission;
  /** URL of the primary. */
  databaseUrl: string;
  logger: Logger;
  maxStreams: number;
  /** Processes that divide the limits among them; default 1. */
  workers?: number;
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
  /** Each caller in its turn, and none has more than half of the slots. */
  readonly #catchUps: FairQueue;
  readonly #slots: StreamSlots;
  readonly #open = new Map<Output, { subscriber: Subscriber; credential: string | undefined }>();
  readonly #checkingKeys: NodeJS.Timeout;
  #isEnding = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
    const { maxStreams, workers = 1 } = options;
    this.#slots = new StreamSlots(maxStreams, Math.ceil(MAX_WATCHED / workers));
    this.#catchUps = new FairQueue({
      slots: CATCH_UPS,
      maxWaiting: 2 * maxStreams + 1,
      maxWaitMs: MAX_CATCH_UP_WAIT_MS,
      busy: () => unavailable('Too many streams are catching up', RETRY_AFTER_SECONDS),
    });
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

  /**
   * Takes a slot for a stream, which must be released unless the stream is opened.
   * @throws HttpError 503 if there is none for this caller
   */
  takeSlot(request: FastifyRequest): StreamSlot {
    if (this.#isEnding) throw unavailable('This server is stopping', RETRY_AFTER_SECONDS);
    return this.#slots.take({ name: callerOf(request), isAnonymous: isAnonymous(request) });
  }

  /**
   * Finds the block to begin at: that of the request, or the sink.
   * @throws HttpError 404 if it is unknown, 409 if the chain cannot be followed from it
   */
  async findStart(
    caller: string,
    from: Uint8Array | undefined,
    subscription: Subscription,
    unknownForMs = UNKNOWN_CURSOR_MS,
  ): Promise<Start> {
    if (from === undefined) return await this.#startAtSink();
    const cursor = toHex(from);
    const { index } = this.#options;
    const { sink } = this.follower;
    if (sink !== undefined && this.follower.has(cursor)) return { cursor, sink };
    const until = performance.now() + unknownForMs;
    for (;;) {
      try {
        return await this.#catchUps.run(caller, () =>
          index.read(async (reading) => {
            await requireStart(reading, from, watchesChanges(subscription));
            return { cursor, sink: sinkOf(reading.state) };
          }, caller),
        );
      } catch (error) {
        const isUnknown = error instanceof HttpError && error.statusCode === 404;
        if (!isUnknown || performance.now() > until) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Begins at a block that the follower knows, if it runs, since a stream then needs no separate
   * reads.
   */
  async #startAtSink(): Promise<Start> {
    const sink = sinkOf(await this.#options.index.getState());
    const start = { cursor: sink.hash, sink };
    if (this.follower.subscribers.size === 0 || this.follower.has(sink.hash)) return start;
    await this.follower.nextRead();
    const { cursor, sink: newer = sink } = this.follower;
    return cursor === undefined || this.follower.has(sink.hash) ? start : { cursor, sink: newer };
  }

  /**
   * Reads a part of the past of a stream, in the turn of its caller, which also waits for a
   * connection as it does for its requests.
   */
  async readStep(caller: string, from: string, request: StepRequest): Promise<Step | undefined> {
    const { step } = await this.#catchUps.run(caller, () => readStep(this.#options.index, from, request, caller));
    return step;
  }

  /**
   * Begins a stream. It must be closed when its connection closes, and is closed before it closes
   * the connection itself.
   */
  open(
    request: FastifyRequest,
    output: Output,
    subscription: Subscription,
    { cursor, sink }: Start,
    slot: StreamSlot,
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
      caller: slot.caller,
      isAnonymous: isAnonymous(request),
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
      slot.release();
    };
    slot.onTaken = () => counted.close('ended');
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
   * Charges a minute. Ends the stream of a key that is not in force or has spent its quota; one
   * that is over its limits at the moment is charged later. Returns the milliseconds until the next
   * charge.
   */
  async #charge(request: FastifyRequest, subscriber: Subscriber): Promise<number> {
    try {
      await this.charge(request, RU_PER_MINUTE);
    } catch (error) {
      const { statusCode, retryAfterSeconds } = error as Partial<HttpError>;
      if (statusCode === 401 || (statusCode === 429 && retryAfterSeconds === undefined)) subscriber.fail(error);
      else if (statusCode === 429) return Number(retryAfterSeconds) * 1000;
      // During an outage of the database, streams continue.
      else this.#options.logger.warn({ reason: String(error) }, 'could not charge a stream');
    }
    return MINUTE_MS;
  }

  /**
   * Charges the key of a connection, or its client without one.
   * @throws HttpError 401 if the key is not in force, 429 if a limit is reached: without a time to
   * retry after if the quota is spent
   */
  async charge(request: FastifyRequest, ru: number): Promise<void> {
    const { admission } = this.#options;
    const credential = credentialOf(request);
    const admitted = await (credential === undefined
      ? admission.admitAnonymous(clientOf(request.ip), ru)
      : admission.admit(credential, ru));
    if (admitted === undefined) throw new HttpError(401, NOT_IN_FORCE);
    const { verdict } = admitted;
    if (verdict === undefined) throw admitted.error;
    if (verdict.refusal === undefined) return admission.release(admitted.apiKey);
    const retry = verdict.refusal === 'quota' ? {} : { retryAfterSeconds: verdict.resetSeconds };
    throw new HttpError(429, 'Rate limit exceeded', retry);
  }
}
