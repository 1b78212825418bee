/** Passes on what was read to all subscribers, without delaying requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { Message } from './messages.ts';
import type { Subscriber } from './subscriber.ts';

const CALLER = 'streams';
/** The pause after a round, as a share of the time that the round took: a fifth of the time is left to requests, unless a round takes more than 400 ms. */
const PAUSE_SHARE = 1 / 4;
/** Bounds the delay of events if clients are many or the machine is busy. */
const MAX_PAUSE_MS = 100;
/** The reader waits when this many reads are queued. */
const MAX_WAITING = 8;

type Receiver = Pick<Subscriber, 'onRead' | 'fail'>;

/**
 * A write to a connection takes 15 microseconds, and there may be thousands. So each subscriber in turn gets all that it lacks in one write, also
 * what was read since the round began, and rounds follow until nobody lacks anything. Nothing that was read waits longer than a round and a pause.
 */
export class FanOut {
  readonly #turns: EventLoopTurns;
  /** How many reads each has received. */
  readonly #received = new Map<Receiver, number>();
  #reads = 0;
  /** The blocks of the latest reads, which not everybody has received. */
  readonly #waiting: (readonly Message[])[] = [];
  #rounds: Promise<void> | undefined;

  constructor(turns: EventLoopTurns) {
    this.#turns = turns;
  }

  /** A subscriber receives what is read from now on. */
  add(subscriber: Receiver): void {
    this.#received.set(subscriber, this.#reads);
  }

  remove(subscriber: Receiver): void {
    this.#received.delete(subscriber);
  }

  /** Queues the blocks of a read, and wakes all subscribers, which take new steps from the follower. Resolves when more may be read. */
  async pass(blocks: readonly Message[]): Promise<void> {
    this.#waiting.push(blocks);
    this.#reads += 1;
    this.#rounds ??= this.#serveAll();
    if (this.#waiting.length >= MAX_WAITING) await this.#rounds;
  }

  async #serveAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) await this.#serveRound();
    } finally {
      this.#rounds = undefined;
    }
  }

  async #serveRound(): Promise<void> {
    const before = this.#waiting.length;
    const startedAt = performance.now();
    await new Slices(this.#turns, CALLER).forEach(this.#received.keys(), (subscriber) => this.#serve(subscriber));
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
