/**
 * Follows the chain for all streams of this process: one reader, whose steps go to every subscriber
 * that has caught up. Recent steps are kept for subscribers that are about to. It runs while there
 * are subscribers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Message,
  readStep,
  requestForAll,
  type Sink,
  type Step,
  toMessage,
  watchesChanges,
} from '@kasgres/chain-steps';
import { type EventLoopTurns, HttpError, type IndexReader, type IndexState, isStandby } from '@kasgres/reads';
import type { Logger } from '@kasgres/runtime';
import { FanOut } from './fan-out.ts';
import { RecentSteps } from './recent-steps.ts';
import type { Subscriber } from './subscriber.ts';
import { WakeUps } from './wake-ups.ts';

const IDLE_MS = 10_000;
const RETRY_MS = 1000;
/** Each costs about as much as the rest of a step. */
const MAX_SHARED_CONFIRMATIONS = 4;

export interface FollowerOptions {
  index: IndexReader;
  turns: EventLoopTurns;
  databaseUrl: string;
  logger: Logger;
}

export const sinkOf = ({ sinkHash, sinkBlueScore }: IndexState): Sink => ({ hash: sinkHash, blueScore: sinkBlueScore });

/**
 * Returns the numbers of confirmations that are read for all: those with the most votes, of which
 * each caller divides one among its numbers. Streams with other numbers read their steps apart, so
 * that the shared read costs the same for any choice of one caller.
 */
export function sharedConfirmations(subscribers: Iterable<Pick<Subscriber, 'subscription' | 'caller'>>): number[] {
  const numbersByCaller = new Map<string, Set<number>>();
  for (const { subscription, caller } of subscribers) {
    const { confirmations } = subscription;
    if (confirmations === undefined || !watchesChanges(subscription)) continue;
    const known = numbersByCaller.get(caller);
    if (known === undefined) numbersByCaller.set(caller, new Set([confirmations]));
    else known.add(confirmations);
  }
  const votes = new Map<number, number>();
  for (const numbers of numbersByCaller.values()) {
    for (const number of numbers) votes.set(number, (votes.get(number) ?? 0) + 1 / numbers.size);
  }
  return [...votes]
    .sort(([one, ofOne], [other, ofOther]) => ofOther - ofOne || one - other)
    .slice(0, MAX_SHARED_CONFIRMATIONS)
    .map(([number]) => number);
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly subscribers = new Set<Subscriber>();
  readonly #fanOut: FanOut;
  readonly #recent = new RecentSteps();
  #cursor: string | undefined;
  #sink: Sink | undefined;
  /** Key of the last block that was read; undefined for none. */
  #lastBlock: bigint | undefined;
  #wakeUps: WakeUps | undefined;
  #isRunning = false;
  #isAwake = false;
  #idleTimer: NodeJS.Timeout | undefined;
  readonly #waiters = new Set<() => void>();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#fanOut = new FanOut(options.turns);
  }

  /** The block that this has reached. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /**
   * The sink of the index at the latest read, which this may not have reached. Known if the cursor
   * is.
   */
  get sink(): Sink | undefined {
    return this.#sink;
  }

  /** Returns whether all steps from a block on are kept. */
  has(hash: string): boolean {
    return hash === this.#cursor || this.#recent.reaches(hash);
  }

  add(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    this.#fanOut.add(subscriber);
    clearTimeout(this.#idleTimer);
    if (this.#wakeUps !== undefined) return;
    const { index, databaseUrl } = this.#options;
    this.#wakeUps = new WakeUps({
      databaseUrl,
      isStandby: () => index.readIfAny(isStandby),
      onWakeUp: () => this.wake(),
    });
    this.#wakeUps.start();
    this.wake();
  }

  remove(subscriber: Subscriber): void {
    this.subscribers.delete(subscriber);
    this.#fanOut.remove(subscriber);
    if (this.subscribers.size > 0) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.close(), IDLE_MS).unref();
  }

  async close(): Promise<void> {
    const wakeUps = this.#wakeUps;
    this.#wakeUps = undefined;
    this.#recent.clear();
    this.#cursor = undefined;
    this.#sink = undefined;
    this.#lastBlock = undefined;
    await wakeUps?.close();
  }

  /** Resolves after the next read of the index, or after a second. */
  async nextRead(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.add(resolve);
    this.wake();
    await Promise.race([promise, sleep(RETRY_MS, undefined, { ref: false })]);
    // While reads fail, each stream calls this every second.
    this.#waiters.delete(resolve);
  }

  /**
   * Returns the kept steps from a block up to the one that this has reached; undefined if they are
   * not all known.
   */
  stepsFrom(hash: string): readonly Step[] | undefined {
    return hash === this.#cursor ? [] : this.#recent.from(hash);
  }

  wake(): void {
    this.#isAwake = true;
    if (!this.#isRunning && this.#wakeUps !== undefined) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#isAwake && this.#wakeUps !== undefined) {
        this.#isAwake = false;
        const blocks = await this.#read();
        for (const resolve of this.#waiters) resolve();
        this.#waiters.clear();
        if (blocks !== undefined) await this.#fanOut.pass(blocks);
      }
    } catch (error) {
      if (error instanceof HttpError && error.statusCode < 500) this.#forget();
      this.#options.logger.warn({ reason: String(error) }, 'could not read the chain for streams, retrying');
      setTimeout(() => this.wake(), RETRY_MS).unref();
    } finally {
      this.#isRunning = false;
    }
  }

  /** Returns new blocks, if there are any or a step is new. */
  async #read(): Promise<readonly Message[] | undefined> {
    const { index } = this.#options;
    const wakeUps = this.#wakeUps;
    if (this.#cursor === undefined) {
      const state = await index.getState();
      this.#sink = sinkOf(state);
      this.#cursor = state.sinkHash;
    }
    const hash = this.#cursor;
    const subscriptions = Array.from(this.subscribers, ({ subscription }) => subscription);
    const request = {
      ...requestForAll(subscriptions),
      confirmations: sharedConfirmations(this.subscribers),
      ...(subscriptions.some(({ events }) => events.has('block')) && { blocksAfter: { last: this.#lastBlock } }),
    };
    const { state, step, newBlocks } = await readStep(index, hash, request, 'stream');
    // It was closed meanwhile.
    if (this.#wakeUps !== wakeUps) return undefined;
    this.#sink = sinkOf(state);
    const { blocks, last, hasMore } = newBlocks;
    this.#lastBlock = last;
    // More may follow, and commits meanwhile.
    if (hasMore || step?.isCaughtUp === false) this.#isAwake = true;
    if (step !== undefined) {
      this.#cursor = step.to;
      this.#recent.push(step);
    } else if (blocks.length === 0) return undefined;
    return blocks.map((block) => toMessage('block', block));
  }

  /**
   * The chain cannot be followed from here, as after the database was replaced. Each stream finds
   * out for itself whether it can.
   */
  #forget(): void {
    this.#recent.clear();
    this.#cursor = undefined;
    this.#lastBlock = undefined;
    for (const subscriber of this.subscribers) subscriber.restart();
  }
}
