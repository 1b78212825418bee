/** Passes on what was read to all subscribers, without delaying requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Message } from '@kasgres/chain-steps';
import { type EventLoopTurns, Slices } from '@kasgres/reads';
import type { Subscriber } from './subscriber.ts';

/**
 * The pause after a round, as a share of the time that the round took: a fifth of the time is left
 * to requests, unless a round takes more than 400 ms.
 */
const PAUSE_SHARE = 1 / 4;
/** Bounds the delay of events if clients are many or the machine is busy. */
const MAX_PAUSE_MS = 100;
/** The reader waits when this many reads are queued. */
const MAX_WAITING = 32;
/** Streams of a key whose rounds do not wait for those of clients that hold many. */
const FIRST_STREAMS = 8;

type Receiver = Pick<Subscriber, 'onRead' | 'fail' | 'caller' | 'isAnonymous'>;

/**
 * Each key's first streams have separate rounds, so that their events do not wait for those of
 * thousands of other streams.
 */
export class FanOut {
  readonly #first: Rounds;
  readonly #others: Rounds;
  /** How many of the first streams a key has, by its caller. */
  readonly #firstByCaller = new Map<string, number>();

  constructor(turns: EventLoopTurns) {
    this.#first = new Rounds(turns, 'first streams');
    this.#others = new Rounds(turns, 'streams');
  }

  /** A subscriber receives what is read from now on. */
  add(subscriber: Receiver): void {
    const { caller, isAnonymous } = subscriber;
    const count = this.#firstByCaller.get(caller) ?? 0;
    if (isAnonymous || count >= FIRST_STREAMS) {
      this.#others.add(subscriber);
      return;
    }
    this.#firstByCaller.set(caller, count + 1);
    this.#first.add(subscriber);
  }

  remove(subscriber: Receiver): void {
    if (!this.#first.remove(subscriber)) {
      this.#others.remove(subscriber);
      return;
    }
    const { caller } = subscriber;
    const count = (this.#firstByCaller.get(caller) ?? 0) - 1;
    if (count > 0) this.#firstByCaller.set(caller, count);
    else this.#firstByCaller.delete(caller);
  }

  /**
   * Queues the blocks of a read, and wakes all subscribers, which take new steps from the follower.
   * Resolves when more may be read.
   */
  async pass(blocks: readonly Message[]): Promise<void> {
    await Promise.all([this.#first.pass(blocks), this.#others.pass(blocks)]);
  }
}

/**
 * A write to a connection takes 15 microseconds, and there may be thousands. So each subscriber in
 * turn gets all that it lacks in one write, also what was read since the round began, and rounds
 * follow until nobody lacks anything. Nothing that was read waits longer than a round and a pause.
 */
class Rounds {
  readonly #turns: EventLoopTurns;
  readonly #name: string;
  /** How many reads each has received. */
  readonly #received = new Map<Receiver, number>();
  #reads = 0;
  /** The blocks of the latest reads, which not everybody has received. */
  readonly #waiting: (readonly Message[])[] = [];
  #running: Promise<void> | undefined;

  /** @param name of the caller in the turns of the event loop */
  constructor(turns: EventLoopTurns, name: string) {
    this.#turns = turns;
    this.#name = name;
  }

  add(subscriber: Receiver): void {
    this.#received.set(subscriber, this.#reads);
  }

  /** Returns whether it was there. */
  remove(subscriber: Receiver): boolean {
    return this.#received.delete(subscriber);
  }

  async pass(blocks: readonly Message[]): Promise<void> {
    if (this.#received.size === 0) return;
    this.#waiting.push(blocks);
    this.#reads += 1;
    this.#running ??= this.#serveAll();
    if (this.#waiting.length >= MAX_WAITING) await this.#running;
  }

  async #serveAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) await this.#serveRound();
    } finally {
      this.#running = undefined;
    }
  }

  async #serveRound(): Promise<void> {
    const before = this.#waiting.length;
    const startedAt = performance.now();
    await new Slices(this.#turns, this.#name).forEach(this.#received.keys(), (subscriber) => this.#serve(subscriber));
    this.#waiting.splice(0, before);
    const pauseMs = Math.min((performance.now() - startedAt) * PAUSE_SHARE, MAX_PAUSE_MS);
    if (pauseMs >= 1) await sleep(pauseMs, undefined, { ref: false });
  }

  #serve(subscriber: Receiver): void {
    const missed = this.#reads - (this.#received.get(subscriber) ?? this.#reads);
    if (missed === 0) return;
    this.#received.set(subscriber, this.#reads);
    try {
      subscriber.onRead(this.#waiting.slice(-missed).flat());
    } catch (error) {
      subscriber.fail(error);
    }
  }
}
