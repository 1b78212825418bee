/**
 * Samples the mempool once a second while somebody asks for it, for all clients of this process together. The node tells no times, so a
 * transaction was seen when a sample first had it.
 */
import { normalizedMass, transientMassFrom } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { unavailable } from './http/errors.ts';
import { type NodeCalls, required } from './node-calls.ts';

const LIFE_MS = 1000;
const IDLE_AFTER_MS = 60_000;
const FOR_ALL = 'mempool';
/** About a second of decoding. Without `--ram-scale`, a node keeps a million. */
const MAX_ENTRIES = 50_000;
const RETRY_AFTER_SECONDS = 2;

/** Masses in grams, amounts in sompi. */
export interface PendingTransaction {
  id: string;
  /** Unix milliseconds. */
  seenAt: number;
  fee: bigint;
  mass: bigint;
  outputSum: bigint;
  paid: readonly { address: string; amount: bigint }[];
  spent: readonly { transactionId: string; index: number }[];
}

export interface MempoolSample {
  timestamp: number;
  /** By id, without orphans. */
  transactions: ReadonlyMap<string, PendingTransaction>;
}

export class MempoolSamples {
  readonly #nodeCalls: NodeCalls;
  /** The latest sample, and when it began. */
  #last: { sample: Promise<MempoolSample>; at: number; isRunning: boolean } | undefined;
  #size: { size: Promise<number>; at: number } | undefined;
  #known: ReadonlyMap<string, PendingTransaction> = new Map();
  #usedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(nodeCalls: NodeCalls) {
    this.#nodeCalls = nodeCalls;
  }

  /** @throws HttpError 503 if the node is unavailable, or the mempool too large */
  get(): Promise<MempoolSample> {
    this.#usedAt = performance.now();
    this.#timer ??= setInterval(() => this.#tick(), LIFE_MS).unref();
    return this.#fresh();
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
      this.#known = new Map();
      return;
    }
    this.#fresh().catch(() => undefined);
  }

  /**
   * Returns the running sample, or one that began less than LIFE_MS ago, and otherwise begins one. Two at once would compete for the only slot of
   * listings: with samples slower than LIFE_MS, the queue would grow until some are refused.
   */
  #fresh(): Promise<MempoolSample> {
    const now = performance.now();
    if (this.#last !== undefined && (this.#last.isRunning || this.#last.at + LIFE_MS > now)) return this.#last.sample;
    const last = { sample: this.#read(), at: now, isRunning: true };
    const settle = (): void => {
      last.isRunning = false;
    };
    last.sample.then(settle, settle);
    this.#last = last;
    return last.sample;
  }

  async #read(): Promise<MempoolSample> {
    const { mempoolSize } = await this.#nodeCalls.of(FOR_ALL).call('getInfo', {});
    if (mempoolSize > MAX_ENTRIES) {
      throw unavailable(`The mempool has ${mempoolSize} transactions, of at most ${MAX_ENTRIES}`, RETRY_AFTER_SECONDS);
    }
    const { entries } = await this.#nodeCalls.list(FOR_ALL, (node) =>
      node.call('getMempoolEntries', { includeOrphanPool: false, filterTransactionPool: false }),
    );
    const timestamp = Date.now();
    const transactions = new Map<string, PendingTransaction>();
    for (const { fee, transaction } of entries) {
      const message = required(transaction, 'transaction');
      const { inputs, outputs, storageMass, verboseData } = message;
      const { transactionId: id, computeMass } = required(verboseData, 'verbose data of a transaction');
      const known = this.#known.get(id);
      transactions.set(
        id,
        known ?? {
          id,
          seenAt: timestamp,
          fee,
          mass: normalizedMass(computeMass, storageMass, transientMassOf(message)),
          outputSum: outputs.reduce((sum, { amount }) => sum + amount, 0n),
          paid: outputs.flatMap(({ amount, verboseData: data }) =>
            data === undefined ? [] : [{ address: data.scriptPublicKeyAddress, amount }],
          ),
          spent: inputs.map(({ previousOutpoint }) => required(previousOutpoint, 'outpoint of an input')),
        },
      );
    }
    this.#known = transactions;
    return { timestamp, transactions };
  }
}

function transientMassOf({ version, inputs, outputs, verboseData }: protocol.Transaction): bigint {
  const { computeMass } = required(verboseData, 'verbose data of a transaction');
  // Two digits for each byte.
  const outputScriptBytes = outputs.map(({ scriptPublicKey: script }) => (script?.scriptPublicKey.length ?? 0) / 2);
  return transientMassFrom(computeMass, { version, inputs, outputScriptBytes });
}
