import type { Logger } from '@kasgres/runtime';
import type { Step } from '@kasgres/state';

const LINE_MS = 60_000;
/** More than the network adds in a few minutes. */
const FAR_BEHIND = 2_000n;

/** Logs the progress of clustering, at most one line a minute, with an estimate while it is far behind. */
export class ClusteringProgress {
  readonly #log: Logger;
  readonly #now: () => number;
  #since: number;
  #sum = { transactions: 0, merges: 0, undoneMerges: 0, held: 0 };
  #from: bigint | undefined;

  constructor(log: Logger, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
    this.#since = now();
  }

  took({ transactions, merges, undoneMerges, held, blueScore, targetBlueScore }: Step): void {
    this.#sum.transactions += transactions;
    this.#sum.merges += merges;
    this.#sum.undoneMerges += undoneMerges;
    this.#sum.held += held;
    this.#from ??= blueScore;
    const elapsed = this.#now() - this.#since;
    if (elapsed < LINE_MS || blueScore === undefined) return;
    const seconds = elapsed / 1_000;
    const left = targetBlueScore - blueScore;
    const done = Number(blueScore - (this.#from ?? blueScore));
    const fields = {
      blueScore,
      ...this.#sum,
      transactionsPerSecond: Math.round(this.#sum.transactions / seconds),
      ...(left > FAR_BEHIND && {
        blueScoresLeft: left,
        secondsLeft: done > 0 ? Math.ceil(Number(left) / (done / seconds)) : null,
      }),
    };
    this.#log.info(fields, left > FAR_BEHIND ? 'clustering, far behind the chain' : 'clustered the chain');
    this.#since += elapsed;
    this.#sum = { transactions: 0, merges: 0, undoneMerges: 0, held: 0 };
    this.#from = blueScore;
  }
}
