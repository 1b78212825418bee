/**
 * Logs position, rate and remaining time every few seconds during a catch-up, and once a minute at
 * the tip.
 */
import type { Logger } from '@kasgres/runtime';
import type { Batch } from './prepare/batch.ts';

const CATCH_UP_LINE_MS = 5_000;
const TIP_LINE_MS = 60_000;
const RATE_WINDOW_MS = 30_000;
const MAX_SECONDS = 2 ** 31 - 1;

interface Sample {
  at: number;
  blueScore: number;
  transactions: number;
}

export class Progress {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #samples: Sample[] = [];
  batches = 0;
  #transactions = 0;
  #lastLine = Number.NEGATIVE_INFINITY;
  #from: bigint | undefined;

  constructor(log: Logger, now = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** @param target as the node says @returns at most what the column holds */
  secondsLeft(blueScore: bigint, target: bigint): number | null {
    const perSecond = this.#perSecond('blueScore');
    if (perSecond <= 0) return null;
    return Math.min(MAX_SECONDS, Math.max(0, Math.ceil(Number(target - blueScore) / perSecond)));
  }

  applied(batch: Batch, atTip: boolean): void {
    const at = this.#now();
    this.#from ??= batch.from.blueScore;
    this.batches += 1;
    this.#transactions += batch.rows.transactions.rows;
    this.#samples.push({ at, blueScore: Number(batch.to.blueScore), transactions: this.#transactions });
    while ((this.#samples[0]?.at ?? at) < at - RATE_WINDOW_MS) this.#samples.shift();
    if (at - this.#lastLine < (atTip ? TIP_LINE_MS : CATCH_UP_LINE_MS)) return;
    this.#lastLine = at;
    const { blueScore } = batch.to;
    const rates = {
      blueScoresPerSecond: Math.round(this.#perSecond('blueScore')),
      transactionsPerSecond: Math.round(this.#perSecond('transactions')),
    };
    if (atTip) this.#log.info({ blueScore, ...rates }, 'follows the chain');
    else {
      const { targetBlueScore, secondsLeft } = batch;
      const toDo = Math.max(1, Number(targetBlueScore - this.#from));
      const percent = Math.min(100, Math.floor((Number(blueScore - this.#from) / toDo) * 100));
      this.#log.info({ percent, blueScore, targetBlueScore, ...rates, secondsLeft }, 'catches up');
    }
  }

  #perSecond(field: 'blueScore' | 'transactions'): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || first.at === last.at) return 0;
    return (1_000 * (last[field] - first[field])) / (last.at - first.at);
  }
}
