/** The rows of `network_intervals` of a chain since genesis. */
import type { Sompi } from '@kasgres/kaspa';
import type { ChainBlock } from '../state-changes.ts';
import { INTERVAL_LENGTHS, type IntervalLength, LENGTHS } from '../network-intervals/intervals.ts';

const createTotal = (length: IntervalLength, start: number) => ({
  length,
  start,
  chainBlocks: 0,
  blocks: 0,
  redBlocks: 0,
  transactions: 0,
  fees: 0n,
  volume: 0n,
  minted: 0n,
  /** At the end of the interval. */
  supply: 0n,
  activeScripts: 0,
  newScripts: 0,
  work: 0n,
});

export type IntervalTotal = ReturnType<typeof createTotal>;

const MILLISECONDS = LENGTHS.map((length) => Number(INTERVAL_LENGTHS[length]));

export class IntervalTotals {
  readonly #ended: IntervalTotal[] = [];
  /** By length; empty before the first block. */
  #open: IntervalTotal[] = [];
  // Sums since the open intervals were last updated, which happens once a block.
  #sent = 0n;
  #received = 0n;
  #coinbaseSent = 0n;
  #coinbaseReceived = 0n;
  #transactions = 0;
  #supply = 0n;

  beginBlock({
    chainTime,
    blocks,
    redBlocks,
    work,
  }: Pick<ChainBlock, 'chainTime' | 'blocks' | 'redBlocks' | 'work'>): void {
    this.#endBlock();
    const time = Number(chainTime);
    this.#open = LENGTHS.map((length, i) => {
      const start = time - (time % (MILLISECONDS[i] as number));
      const open = this.#open[i];
      if (open?.start === start) return open;
      if (open !== undefined) this.#ended.push(open);
      return createTotal(length, start);
    });
    for (const open of this.#open) {
      open.chainBlocks += 1;
      open.blocks += blocks;
      open.redBlocks += redBlocks;
      open.work += work;
    }
  }

  countTransaction(): void {
    this.#transactions += 1;
  }

  spend(amount: Sompi, isCoinbase: boolean): void {
    if (isCoinbase) this.#coinbaseSent += amount;
    else this.#sent += amount;
  }

  create(amount: Sompi, isCoinbase: boolean): void {
    if (isCoinbase) this.#coinbaseReceived += amount;
    else this.#received += amount;
  }

  /** Counts a script that the current block touches. @param seenBefore the chain time at which it was last touched; 0 if never */
  see(seenBefore: number): void {
    for (let i = 0; i < MILLISECONDS.length; i += 1) {
      const open = this.#open[i] as IntervalTotal;
      if (seenBefore < open.start) open.activeScripts += 1;
      if (seenBefore === 0) open.newScripts += 1;
    }
  }

  rows(): readonly IntervalTotal[] {
    this.#endBlock();
    return [...this.#ended, ...this.#open];
  }

  #endBlock(): void {
    const minted = this.#received - this.#sent + this.#coinbaseReceived - this.#coinbaseSent;
    this.#supply += minted;
    for (const open of this.#open) {
      open.transactions += this.#transactions;
      open.fees += this.#sent - this.#received;
      open.volume += this.#received;
      open.minted += minted;
      open.supply = this.#supply;
    }
    this.#sent = this.#received = this.#coinbaseSent = this.#coinbaseReceived = 0n;
    this.#transactions = 0;
  }
}
