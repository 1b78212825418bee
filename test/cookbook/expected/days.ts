/** What the demo network did by minute, hour or day, by the chain time of its blocks. */
import { DAY_MS, groupBy, sumOf, type ChainBlock, type History } from '../history.ts';

export interface Interval {
  start: Date;
  /** `2025-06-16` */
  day: string;
  chainBlocks: ChainBlock[];
  blocks: number;
  reds: number;
  /** Of merged blocks. */
  bits: number[];
  transactions: number;
  /** Sompi, as are all amounts. */
  fees: bigint;
  volume: bigint;
  minted: bigint;
  supply: bigint;
  active: number;
  fresh: number;
}

/** Those with a chain block, in order. */
export function intervalsOf({ chain }: History, lengthMs = DAY_MS): Interval[] {
  const seen = new Set<string>();
  let supply = 0n;
  return [...groupBy(chain, ({ chainTime }) => Math.floor(chainTime / lengthMs))].map(([place, chainBlocks]) => {
    const merged = chainBlocks.flatMap(({ block }) => block.mergeSet);
    const accepted = chainBlocks.flatMap((chainBlock) => chainBlock.accepted);
    const payments = accepted.filter(({ isCoinbase }) => !isCoinbase);
    const touched = new Set(
      accepted.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].map((utxo) => utxo?.script ?? '')),
    );
    const fresh = [...touched].filter((script) => !seen.has(script));
    for (const script of fresh) seen.add(script);
    const fees = payments.reduce((sum, { fee }) => sum + fee, 0n);
    const minted = accepted.reduce(
      (sum, { isCoinbase, outputs, fee }) => sum + (isCoinbase ? sumOf(outputs) : -fee),
      0n,
    );
    supply += minted;
    const start = new Date(place * lengthMs);
    return {
      start,
      day: start.toISOString().slice(0, 10),
      chainBlocks,
      blocks: merged.length,
      reds: chainBlocks.reduce((sum, { block }) => sum + block.mergeSetReds.length, 0),
      bits: merged.map(({ header }) => header.bits),
      transactions: payments.length,
      fees,
      volume: payments.reduce((sum, { outputs }) => sum + sumOf(outputs), 0n),
      minted,
      supply,
      active: touched.size,
      fresh: fresh.length,
    };
  });
}

/** Those with a merged block, latest first, as the requests by day show them. The day of genesis has none. */
export function latestDays(history: History): Interval[] {
  const days = intervalsOf(history).filter(({ blocks }) => blocks > 0);
  return days.reverse().slice(0, 30);
}
