/** What a chain block adds to its intervals: the blocks it merges, the transactions it accepts, the scripts that these touch. */

/** What a transaction does to a script: a row of address_transactions. */
export interface Move {
  /** Sompi. */
  sent: bigint;
  /** Sompi. */
  received: bigint;
}

export interface ChainBlockTotals {
  /** chain_blocks.index. */
  index: number;
  /** Unix milliseconds. */
  chainTime: bigint;
  blocks: number;
  redBlocks: number;
  work: bigint;
  /** Without coinbases, as fees and volume. */
  transactions: number;
  fees: bigint;
  volume: bigint;
  minted: bigint;
  scripts: Set<number>;
}

export function totalsOf(
  block: Pick<ChainBlockTotals, 'index' | 'chainTime' | 'blocks' | 'redBlocks' | 'work'>,
): ChainBlockTotals {
  return { ...block, transactions: 0, fees: 0n, volume: 0n, minted: 0n, scripts: new Set() };
}

/** @param moves of the transaction, by script */
export function addAccepted(
  totals: ChainBlockTotals,
  { isCoinbase, moves }: { isCoinbase: boolean; moves: ReadonlyMap<number, Move> },
): void {
  let sent = 0n;
  let received = 0n;
  for (const [script, move] of moves) {
    totals.scripts.add(script);
    sent += move.sent;
    received += move.received;
  }
  totals.minted += received - sent;
  if (isCoinbase) return;
  totals.transactions += 1;
  totals.fees += sent - received;
  totals.volume += received;
}
