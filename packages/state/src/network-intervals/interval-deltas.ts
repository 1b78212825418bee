/**
 * A chain block belongs to the interval of its chain_time, which never decreases, so each interval
 * is a range of the chain.
 */
import { type ChainBlock, getOrInsert, type TransactionDeltas } from '../state-changes.ts';
import type { ActiveScripts } from '../balances/script-activity/replay.ts';
import { type IntervalLength, LENGTHS, startOfInterval } from './intervals.ts';

type Transaction = Pick<TransactionDeltas, 'isCoinbase' | 'deltas'>;

export type ChainBlockTotals = ReturnType<typeof totalsOf>;

/** Transactions, fees and volume exclude coinbases. */
export function totalsOf(chainBlock: ChainBlock, transactions: readonly Transaction[] = []) {
  const totals = { ...chainBlock, transactions: 0, fees: 0n, volume: 0n, minted: 0n };
  for (const transaction of transactions) addAccepted(totals, transaction);
  return totals;
}

export function addAccepted(totals: ChainBlockTotals, { isCoinbase, deltas }: Transaction): void {
  let sent = 0n;
  let received = 0n;
  for (const delta of deltas.values()) {
    sent += delta.sent;
    received += delta.received;
  }
  totals.minted += received - sent;
  if (isCoinbase) return;
  totals.transactions += 1;
  totals.fees += sent - received;
  totals.volume += received;
}

const emptyDelta = (length: IntervalLength, start: bigint) => ({
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
  /**
   * Minted by the batch after the interval: the supply at the sink minus that at the interval's
   * end.
   */
  mintedLater: 0n,
});

export type IntervalDelta = ReturnType<typeof emptyDelta>;

/** Removals come from the top of the chain, then additions follow. */
export class IntervalDeltas {
  readonly #deltas = new Map<string, IntervalDelta>();

  /**
   * @param forkTime chain_time of the fork; if no block is appended, its intervals end at the fork
   */
  constructor(forkTime: bigint) {
    for (const length of LENGTHS) this.#of(length, forkTime);
  }

  remove(block: ChainBlockTotals, counts: ActiveScripts): void {
    for (const length of LENGTHS) add(this.#of(length, block.chainTime), block, counts, -1);
  }

  /** Must be called in the order of the chain. */
  append(block: ChainBlockTotals, counts: ActiveScripts): void {
    for (const length of LENGTHS) add(this.#of(length, block.chainTime), block, counts, 1);
    const { chainTime: time, minted } = block;
    for (const delta of this.#deltas.values()) {
      if (delta.start < startOfInterval(delta.length, time)) delta.mintedLater += minted;
    }
  }

  rows(): IntervalDelta[] {
    return [...this.#deltas.values()];
  }

  #of(length: IntervalLength, time: bigint): IntervalDelta {
    const start = startOfInterval(length, time);
    return getOrInsert(this.#deltas, `${length} ${start}`, () => emptyDelta(length, start));
  }
}

function add(delta: IntervalDelta, block: ChainBlockTotals, counts: ActiveScripts, sign: 1 | -1): void {
  const factor = BigInt(sign);
  delta.chainBlocks += sign;
  for (const name of ['blocks', 'redBlocks', 'transactions'] as const) delta[name] += sign * block[name];
  for (const name of ['fees', 'volume', 'minted', 'work'] as const) delta[name] += factor * block[name];
  delta.activeScripts += sign * counts.active[delta.length];
  delta.newScripts += sign * counts.new;
}
