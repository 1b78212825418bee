/**
 * Follows the chain for all streams of this process: one reader, whose steps go to every subscriber that has caught up. Recent steps are kept for
 * subscribers that are about to. It runs while there are subscribers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@kasgres/runtime';
import { sql } from 'kysely';
import type { EventLoopTurns } from '../fairness/event-loop-turns.ts';
import { jsonArray, jsonObject } from '../index-state/json.ts';
import { HttpError } from '../http/errors.ts';
import type { IndexState } from '../index-state/index-state.ts';
import type { IndexReader, Reading } from '../index-state/state.ts';
import { readJson } from '../index-state/statement.ts';
import { dagBlockFields, type DagBlockJson } from '../resources/blocks/dag.ts';
import { joinMerging } from '../resources/blocks/select-blocks.ts';
import { fanOut } from './fan-out.ts';
import { type Message, requestForAll } from './messages.ts';
import { readStep, type Step } from './read-step.ts';
import type { Subscriber } from './subscriber.ts';
import { WakeUps } from './wake-ups.ts';

const RECENT_STEPS = 300;
/** Blocks that are announced at once; after a pause there may be more. */
const MAX_BLOCKS = 500;
const IDLE_MS = 10_000;
const RETRY_MS = 1000;

export interface FollowerOptions {
  index: IndexReader;
  turns: EventLoopTurns;
  databaseUrl: string;
  logger: Logger;
}

export interface Sink {
  hash: string;
  blueScore: bigint;
}

export const sinkOf = ({ sinkHash, sinkBlueScore }: IndexState): Sink => ({ hash: sinkHash, blueScore: sinkBlueScore });

export class Follower {
  readonly #options: FollowerOptions;
  readonly subscribers = new Set<Subscriber>();
  /** Each begins where the one before it ends. */
  readonly #recent: Step[] = [];
  #cursor: string | undefined;
  #sink: Sink | undefined;
  #lastBlock: bigint | undefined;
  #wakeUps: WakeUps | undefined;
  #isRunning = false;
  #isAwake = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #waiters: (() => void)[] = [];

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** The block that this has reached. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** The sink of the index at the latest read, which this may not have reached. Known if the cursor is. */
  get sink(): Sink | undefined {
    return this.#sink;
  }

  /** Returns whether all steps from a block on are kept. */
  has(hash: string): boolean {
    return hash === this.#cursor || this.#recent.some(({ to }) => to === hash);
  }

  add(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    clearTimeout(this.#idleTimer);
    if (this.#wakeUps !== undefined) return;
    const { index, databaseUrl } = this.#options;
    this.#wakeUps = new WakeUps({
      databaseUrl,
      isReplica: () =>
        index.readIfAny(async (db) => {
          const { rows } = await sql<{ is_replica: boolean }>`select pg_is_in_recovery() as is_replica`.execute(db);
          return rows[0]?.is_replica === true;
        }),
      onWakeUp: () => this.wake(),
    });
    this.#wakeUps.start();
    this.wake();
  }

  remove(subscriber: Subscriber): void {
    this.subscribers.delete(subscriber);
    if (this.subscribers.size > 0) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.close(), IDLE_MS).unref();
  }

  async close(): Promise<void> {
    const wakeUps = this.#wakeUps;
    this.#wakeUps = undefined;
    this.#recent.length = 0;
    this.#cursor = undefined;
    this.#sink = undefined;
    this.#lastBlock = undefined;
    await wakeUps?.close();
  }

  /** Resolves after the next read of the index, or after a second. */
  async nextRead(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push(resolve);
    this.wake();
    await Promise.race([promise, sleep(RETRY_MS, undefined, { ref: false })]);
  }

  /** Returns the kept steps from a block up to the one that this has reached; undefined if they are not all known. */
  stepsFrom(hash: string): readonly Step[] | undefined {
    if (hash === this.#cursor) return [];
    const first = this.#recent.findIndex(({ from }) => from === hash);
    return first === -1 ? undefined : this.#recent.slice(first);
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
        const pauseMs = await this.#read();
        for (const resolve of this.#waiters.splice(0)) resolve();
        if (pauseMs >= 1) await sleep(pauseMs, undefined, { ref: false });
      }
    } catch (error) {
      if (error instanceof HttpError && error.statusCode < 500) this.#forget();
      this.#options.logger.warn({ reason: String(error) }, 'could not read the chain for streams, retrying');
      setTimeout(() => this.wake(), RETRY_MS).unref();
    } finally {
      this.#isRunning = false;
    }
  }

  /** Returns the milliseconds that should pass before the next read. */
  async #read(): Promise<number> {
    const { index, turns } = this.#options;
    if (this.#cursor === undefined) {
      this.#sink = sinkOf(await index.getState());
      this.#cursor = this.#sink.hash;
    }
    const subscriptions = Array.from(this.subscribers, ({ subscription }) => subscription);
    const request = requestForAll(subscriptions);
    const withBlocks = subscriptions.some(({ events }) => events.has('block'));
    if (!withBlocks) this.#lastBlock = undefined;
    const { sink, step, blocks } = await index.read(
      async (reading) => ({
        sink: sinkOf(reading.state),
        step: await readStep(reading, this.#cursor as string, request),
        blocks: withBlocks ? await this.#readBlocks(reading) : [],
      }),
      'stream',
    );
    this.#sink = sink;
    if (step !== undefined) {
      this.#cursor = step.to;
      this.#recent.push(step);
      if (this.#recent.length > RECENT_STEPS) this.#recent.shift();
      // More steps may follow, and commits meanwhile.
      if (!step.isCaughtUp) this.#isAwake = true;
    } else if (blocks.length === 0) return 0;
    return fanOut(turns, this.subscribers, { blocks, step });
  }

  /** The chain cannot be followed from here, as after the database was replaced. Each stream finds out for itself whether it can. */
  #forget(): void {
    this.#recent.length = 0;
    this.#cursor = undefined;
    this.#lastBlock = undefined;
    for (const subscriber of this.subscribers) subscriber.restart();
  }

  /** Returns the blocks that were indexed since the last read. */
  async #readBlocks({ db }: Reading): Promise<Message[]> {
    const { rows } = await sql<{ last: bigint | null }>`select max(id) as last from blocks`.execute(db);
    const after = this.#lastBlock;
    this.#lastBlock = rows[0]?.last ?? 0n;
    if (after === undefined || after === this.#lastBlock) return [];
    const body = jsonArray(
      jsonObject<DagBlockJson>(dagBlockFields),
      sql`from (select * from blocks where id > ${after} order by id desc limit ${MAX_BLOCKS}) block ${joinMerging} order by block.id`,
    );
    const blocks = JSON.parse(String(await readJson(db, { body }))) as DagBlockJson[];
    return blocks.map((block) => ({ event: 'block', data: JSON.stringify(block) }));
  }
}
