/**
 * Mempool and pending transactions for streams, sampled once a second while somebody listens. Not
 * resumable.
 */
import { type Message, toMessage, watchesChanges } from '@kasgres/chain-steps';
import { type EventLoopTurns, type IndexReader, Slices } from '@kasgres/reads';
import type { Logger } from '@kasgres/runtime';
import { toPendingTransaction } from '../node/pending-transaction.ts';
import type { MempoolSample, MempoolSamples } from '../node/mempool-samples.ts';
import { PendingMoves } from './pending-moves.ts';
import type { Subscriber } from './subscriber.ts';

const SAMPLE_MS = 1000;

interface Options {
  index: IndexReader;
  turns: EventLoopTurns;
  mempool: MempoolSamples;
  logger: Logger;
}

export class MempoolEvents {
  readonly #options: Options;
  readonly #subscribers: ReadonlySet<Subscriber>;
  /**
   * Whether a subscriber has the whole mempool, and gets its changes, or was told that it cannot be
   * read.
   */
  readonly #informed = new WeakMap<Subscriber, 'whole' | 'unavailable'>();
  readonly #pendingMoves: PendingMoves;
  #last: MempoolSample | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor(options: Options, subscribers: ReadonlySet<Subscriber>) {
    this.#options = options;
    this.#subscribers = subscribers;
    this.#pendingMoves = new PendingMoves(options);
  }

  wake(): void {
    this.#timer ??= setInterval(() => void this.#tick(), SAMPLE_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Must be called when a subscriber unsubscribes from the mempool. Otherwise it would get no
   * snapshot if it subscribes again before the next sample.
   */
  forget(subscriber: Subscriber): void {
    this.#informed.delete(subscriber);
  }

  async #tick(): Promise<void> {
    const ofPool = [...this.#subscribers].filter(wantsPool);
    for (const subscriber of this.#subscribers) if (!wantsPool(subscriber)) this.forget(subscriber);
    const ofMoves = [...this.#subscribers].filter(({ subscription }) => watchesChanges(subscription));
    if (this.#subscribers.size === 0) this.close();
    if (this.#isRunning || ofPool.length + ofMoves.length === 0) return;
    this.#isRunning = true;
    try {
      const sample = await this.#options.mempool.get().catch(() => undefined);
      await this.#sendPool(ofPool, sample);
      if (sample !== undefined && ofMoves.length > 0) await this.#pendingMoves.send(ofMoves, sample);
      if (ofMoves.length === 0) this.#pendingMoves.clear();
    } catch (error) {
      this.#options.logger.warn({ reason: String(error) }, 'could not read pending transactions for streams');
    } finally {
      this.#isRunning = false;
    }
  }

  async #sendPool(subscribers: readonly Subscriber[], sample: MempoolSample | undefined): Promise<void> {
    const before = this.#last;
    this.#last = sample;
    if (sample === undefined) {
      const unavailable = toMessage('mempool', { available: false });
      await this.#each(subscribers, (subscriber) => {
        if (!wantsPool(subscriber) || this.#informed.get(subscriber) === 'unavailable') return;
        this.#informed.set(subscriber, 'unavailable');
        subscriber.send([unavailable]);
      });
      return;
    }
    const knows = (subscriber: Subscriber): boolean =>
      before !== undefined && this.#informed.get(subscriber) === 'whole';
    const snapshot = subscribers.every(knows) ? undefined : await this.#poolMessage(sample, undefined);
    const changes = subscribers.some(knows) ? await this.#poolMessage(sample, before) : undefined;
    await this.#each(subscribers, (subscriber) => {
      const isInformed = knows(subscriber);
      // It may have unsubscribed meanwhile, and a snapshot that nobody needed was not made.
      if (!wantsPool(subscriber) || (!isInformed && snapshot === undefined)) return;
      const message = isInformed ? changes : snapshot;
      this.#informed.set(subscriber, 'whole');
      if (message !== undefined) subscriber.send([message]);
    });
  }

  /**
   * Returns what has changed since an earlier sample, undefined if nothing has; a snapshot if there
   * is none.
   */
  async #poolMessage(sample: MempoolSample, before: MempoolSample | undefined): Promise<Message | undefined> {
    const slices = new Slices(this.#options.turns, 'streams');
    const added: string[] = [];
    await slices.forEach(sample.transactions.values(), (transaction) => {
      if (before?.transactions.has(transaction.id) !== true)
        added.push(JSON.stringify(toPendingTransaction(transaction)));
    });
    const removed: string[] = [];
    await slices.forEach(before?.transactions.keys() ?? [], (id) => {
      if (!sample.transactions.has(id)) removed.push(id);
    });
    if (before !== undefined && added.length + removed.length === 0) return undefined;
    const data = `{"added":[${added.join(',')}],"removed":${JSON.stringify(removed)},"isSnapshot":${before === undefined}}`;
    return { event: 'mempool', data };
  }

  /** There may be thousands of subscribers. */
  async #each(subscribers: readonly Subscriber[], handle: (subscriber: Subscriber) => void): Promise<void> {
    await new Slices(this.#options.turns, 'streams').forEach(subscribers, handle);
  }
}

const wantsPool = ({ subscription }: Subscriber): boolean => subscription.events.has('mempool');
