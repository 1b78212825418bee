/**
 * The intervals of `network_intervals`, and what chain blocks change in them. A chain block belongs to the interval of its chain_time, which
 * never goes back: each interval is a stretch of the chain.
 */
import type { ChainBlockTotals } from './chain-block-totals.ts';
import type { Activity } from './sightings.ts';

export const INTERVAL_LENGTHS = { minute: 60_000n, hour: 3_600_000n, day: 86_400_000n } as const;

export type IntervalLength = keyof typeof INTERVAL_LENGTHS;

const LENGTHS = Object.keys(INTERVAL_LENGTHS) as IntervalLength[];

export interface IntervalChange {
  length: IntervalLength;
  /** Unix milliseconds. */
  start: bigint;
  chainBlocks: number;
  blocks: number;
  redBlocks: number;
  transactions: number;
  fees: bigint;
  volume: bigint;
  minted: bigint;
  activeScripts: number;
  newScripts: number;
  work: bigint;
  /** What the chain has minted after its end: by this the supply there is smaller than at the sink. */
  mintedLater: bigint;
}

/** @param time Unix milliseconds */
export function startOfInterval(length: IntervalLength, time: bigint): bigint {
  return time - (time % INTERVAL_LENGTHS[length]);
}

/** What a batch does to intervals: blocks it takes from the top of the chain, then blocks it puts on what remains. */
export class IntervalChanges {
  readonly #changes = new Map<string, IntervalChange>();

  /** @param forkTime chain_time of the chain block that remains, whose intervals end there if nothing is put on it */
  constructor(forkTime: bigint) {
    for (const length of LENGTHS) this.#of(length, forkTime);
  }

  remove(block: ChainBlockTotals, activity: Activity): void {
    for (const length of LENGTHS) add(this.#of(length, block.chainTime), block, activity, -1);
  }

  /** In the order of the chain. */
  append(block: ChainBlockTotals, activity: Activity): void {
    for (const length of LENGTHS) add(this.#of(length, block.chainTime), block, activity, 1);
    const { chainTime: time, minted } = block;
    for (const change of this.#changes.values()) {
      if (change.start < startOfInterval(change.length, time)) change.mintedLater += minted;
    }
  }

  all(): IntervalChange[] {
    return [...this.#changes.values()];
  }

  #of(length: IntervalLength, time: bigint): IntervalChange {
    const start = startOfInterval(length, time);
    const key = `${length} ${start}`;
    const found = this.#changes.get(key);
    if (found !== undefined) return found;
    const change = {
      length,
      start,
      chainBlocks: 0,
      blocks: 0,
      redBlocks: 0,
      transactions: 0,
      fees: 0n,
      volume: 0n,
      minted: 0n,
      activeScripts: 0,
      newScripts: 0,
      work: 0n,
      mintedLater: 0n,
    };
    this.#changes.set(key, change);
    return change;
  }
}

function add(change: IntervalChange, block: ChainBlockTotals, activity: Activity, sign: 1 | -1): void {
  change.chainBlocks += sign;
  change.blocks += sign * block.blocks;
  change.redBlocks += sign * block.redBlocks;
  change.transactions += sign * block.transactions;
  change.fees += BigInt(sign) * block.fees;
  change.volume += BigInt(sign) * block.volume;
  change.minted += BigInt(sign) * block.minted;
  change.work += BigInt(sign) * block.work;
  change.activeScripts += sign * activity.active[change.length];
  change.newScripts += sign * activity.new;
}
