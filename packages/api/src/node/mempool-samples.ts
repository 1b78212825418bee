/**
 * Samples the mempool while somebody asks for it, for all clients of this process together: once a
 * second, and less often if that takes long. Only transactions that the last sample did not have
 * are decoded. The node tells no times, so a transaction was seen when a sample first had it.
 */
import { normalizedMass, transientMassFrom } from '@kasgres/kaspa';
import {
  NodeResponseTooLargeError,
  type PackedPairs,
  type PendingEntry,
  readEntryId,
  readPendingEntry,
} from '@kasgres/node';
import { type EventLoopTurns, Slices, unavailable } from '@kasgres/reads';
import type { NodeCalls } from './node-calls.ts';

const LIFE_MS = 1000;
const IDLE_AFTER_MS = 60_000;
const FOR_ALL = 'mempool';
/** They take about 100 MB here. Without `--ram-scale`, a node keeps a million. */
const MAX_ENTRIES = 50_000;
/** Longer responses are not received. */
const MAX_BYTES = 256 * 1024 * 1024;
/** The rate at which all processes together list the mempool, by the sizes of its responses. */
const MAX_BYTES_PER_MS = 8000;
/**
 * A sample begins at the earliest after this many times what the last one took, up to
 * MAX_SLOW_PAUSE_MS.
 */
const SPARE_FACTOR = 10;
/** A sample may be slow once only, because the machine was busy. */
const MAX_SLOW_PAUSE_MS = 10_000;
/** Until a mempool that was too large is listed again. It empties over minutes. */
const TOO_LARGE_PAUSE_MS = 60_000;
/** After this time requests get the sample before, if there is one. */
const SLOW_MS = 100;
/**
 * The longest pause after a failure; the first takes LIFE_MS, and each is twice as long as the one
 * before.
 */
const MAX_RETRY_MS = 8000;
const RETRY_AFTER_SECONDS = 2;

/** Masses in grams, amounts in sompi. */
export interface PendingTransaction {
  id: string;
  /** Unix milliseconds. */
  seenAt: number;
  fee: bigint;
  mass: bigint;
  outputSum: bigint;
  /** Addresses and amounts of the outputs; the address of a non-standard script is empty. */
  paid: PackedPairs;
  /** Transaction ids and indexes of the outpoints that are spent. */
  spent: PackedPairs;
  /** Covenant ids and indexes of the outputs that are bound to a covenant. */
  bound: PackedPairs;
}

export interface MempoolSample {
  timestamp: number;
  /** By id, without orphans. */
  transactions: ReadonlyMap<string, PendingTransaction>;
}

interface Sampling {
  sample: Promise<MempoolSample>;
  /** Resolves to the sample before if this one is slow. */
  orKnown: Promise<MempoolSample>;
  isRunning: boolean;
}

export class MempoolSamples {
  readonly #nodeCalls: NodeCalls;
  readonly #turns: EventLoopTurns;
  /** The latest sample, failed or not. */
  #last: Sampling | undefined;
  /** The latest that did not fail. */
  #known: MempoolSample | undefined;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** In succession. */
  #failures = 0;
  /**
   * The mempool that was too large to be listed: its number of transactions, and until when it is
   * taken to be too large.
   */
  #tooLarge: { size: bigint; until: number } | undefined;
  /** Bytes of the last sample for each of its transactions. */
  #bytesPerEntry = 0;
  #size: { size: Promise<number>; at: number } | undefined;
  #usedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(nodeCalls: NodeCalls, turns: EventLoopTurns) {
    this.#nodeCalls = nodeCalls;
    this.#turns = turns;
  }

  /** @throws HttpError 503 if the node is unavailable, or the mempool too large */
  get(): Promise<MempoolSample> {
    this.#usedAt = performance.now();
    this.#timer ??= setInterval(() => this.#tick(), LIFE_MS).unref();
    const { sample, orKnown, isRunning } = this.#fresh();
    return isRunning ? orKnown : sample;
  }

  /** Returns the number of transactions, without orphans; null if the node is unavailable. */
  async findSize(): Promise<number | null> {
    const now = performance.now();
    if (this.#size === undefined || this.#size.at + LIFE_MS < now) {
      const size = this.#nodeCalls
        .of(FOR_ALL)
        .call('getInfo', {})
        .then(({ mempoolSize }) => Number(mempoolSize));
      this.#size = { size, at: now };
    }
    return this.#size.size.catch(() => null);
  }

  #tick(): void {
    // A running sample would set `#known` after it has been cleared below.
    if (this.#last?.isRunning === true) return;
    if (this.#usedAt + IDLE_AFTER_MS < performance.now()) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#last = undefined;
      this.#known = undefined;
      return;
    }
    this.#fresh();
  }

  /**
   * Returns the running sample, or the last one until the next is due, and otherwise begins one.
   * Two at once would compete for the only slot of listings: with samples slower than LIFE_MS, the
   * queue would grow until some are refused.
   */
  #fresh(): Sampling {
    const begunAt = performance.now();
    if (this.#last !== undefined && (this.#last.isRunning || begunAt < this.#nextAt)) return this.#last;
    const known = this.#known;
    const sample = this.#read();
    const last = { sample, orKnown: known === undefined ? sample : orAfterAWhile(sample, known), isRunning: true };
    const settle = (bytes: number): void => {
      last.isRunning = false;
      this.#failures = 0;
      const durationMs = performance.now() - begunAt;
      const ofBytesMs = (bytes / MAX_BYTES_PER_MS) * this.#nodeCalls.processes;
      const slowMs = Math.min(durationMs * SPARE_FACTOR, MAX_SLOW_PAUSE_MS);
      this.#nextAt = begunAt + Math.max(LIFE_MS, slowMs, ofBytesMs);
    };
    last.sample.then(
      ({ transactions }) => settle(this.#bytesPerEntry * transactions.size),
      () => {
        last.isRunning = false;
        // A failure that took long, as an attempt that timed out, is not repeated to everybody for
        // ten times as long.
        this.#failures += 1;
        this.#nextAt = performance.now() + Math.min(LIFE_MS * 2 ** (this.#failures - 1), MAX_RETRY_MS);
      },
    );
    this.#last = last;
    // Nobody may wait for them.
    last.sample.catch(() => undefined);
    last.orKnown.catch(() => undefined);
    return last;
  }

  async #read(): Promise<MempoolSample> {
    const { mempoolSize } = await this.#nodeCalls.of(FOR_ALL).call('getInfo', {});
    this.#requireListable(mempoolSize);
    const timestamp = Date.now();
    try {
      const transactions = await this.#list(timestamp);
      this.#tooLarge = undefined;
      this.#known = { timestamp, transactions };
      return this.#known;
    } catch (error) {
      if (!(error instanceof NodeResponseTooLargeError)) throw error;
      this.#tooLarge = { size: mempoolSize, until: performance.now() + TOO_LARGE_PAUSE_MS };
      throw tooLarge(`${error.bytes} bytes`, MAX_BYTES);
    }
  }

  /** Decides by the number of transactions, which is cheap to read. */
  #requireListable(size: bigint): void {
    if (size > MAX_ENTRIES) throw tooLarge(`${size} transactions`, MAX_ENTRIES);
    const { size: largeSize, until } = this.#tooLarge ?? { size: 0n, until: 0 };
    // The large transactions may have left a mempool that has become smaller.
    if (performance.now() < until && size * 2n > largeSize) throw tooLarge(`${size} large transactions`, MAX_BYTES);
  }

  async #list(timestamp: number): Promise<Map<string, PendingTransaction>> {
    const flags = { includeOrphanPool: false, filterTransactionPool: false };
    const slices = new Slices(this.#turns, FOR_ALL);
    return this.#nodeCalls.list(
      FOR_ALL,
      'getMempoolEntries',
      flags,
      async (pieces) => {
        const transactions = new Map<string, PendingTransaction>();
        let total = 0;
        for await (const entries of pieces) {
          await slices.forEach(entries, ({ bytes }) => {
            total += bytes.length;
            const id = readEntryId(bytes);
            transactions.set(
              id,
              this.#known?.transactions.get(id) ?? toPending(readPendingEntry(bytes), id, timestamp),
            );
          });
          // The mempool may have grown since its size was read.
          if (transactions.size > 2 * MAX_ENTRIES) throw tooLarge(`${transactions.size} transactions`, MAX_ENTRIES);
        }
        this.#bytesPerEntry = transactions.size === 0 ? 0 : total / transactions.size;
        return transactions;
      },
      { limitBytes: MAX_BYTES },
    );
  }
}

async function orAfterAWhile(sample: Promise<MempoolSample>, known: MempoolSample): Promise<MempoolSample> {
  const { promise, resolve } = Promise.withResolvers<MempoolSample>();
  const timer = setTimeout(() => resolve(known), SLOW_MS);
  return await Promise.race([sample, promise]).finally(() => clearTimeout(timer));
}

const tooLarge = (size: string, most: number) =>
  unavailable(`The mempool has ${size}, and at most ${most} are listed`, RETRY_AFTER_SECONDS);

function toPending(entry: PendingEntry, id: string, seenAt: number): PendingTransaction {
  const { fee, version, computeMass, storageMass, outputSum, scripts, paid, spent, bound } = entry;
  const transient = transientMassFrom(computeMass, version, scripts);
  return { id, seenAt, fee, mass: normalizedMass(computeMass, storageMass, transient), outputSum, paid, spent, bound };
}
