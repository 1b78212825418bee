/** What one database transaction applies: rows for COPY, and changes to rows that are there already. Made by prepare, used by apply. */
import type { Hash } from '@kasgres/kaspa';
import type { ChainBlockTotals } from '../rollups/chain-block-totals.ts';
import type { BalanceChanges } from './balance-changes.ts';
import type { Rows } from './rows.ts';

/** The checkpoint row, as far as batches count from it. */
export interface Checkpoint {
  blockId: number;
  hash: Hash;
  blueScore: bigint;
  chainIndex: number;
  /** The latest time of it and the chain blocks below, Unix milliseconds. */
  chainTime: bigint;
  nextBlockId: number;
  nextTransactionId: number;
  nextScriptId: number;
  nextSubnetworkId: number;
  /** The first catch-up leaves utxos, balances and some indexes to its end. */
  firstCatchUp: boolean;
}

/** A block that was written before, and is merged now. */
export interface MergedEarlier {
  block: number;
  mergingBlock: number;
  isBlue: boolean;
}

/** A transaction that was written before, and is accepted now. */
export interface AcceptedEarlier {
  transaction: number;
  acceptingBlock: number;
  body: number | null;
}

/** A transaction that was accepted before, and of which the node can tell the body now. */
export interface SettledBody {
  transaction: number;
  body: number;
}

export interface Batch {
  /** What the batch was computed from; apply refuses any other (invariant 2). */
  from: Checkpoint;
  to: Checkpoint;
  removed: Hash[];
  rows: Rows;
  mergedEarlier: MergedEarlier[];
  /** Blocks written before that are on the chain now. */
  chainEarlier: number[];
  /** Blocks known as earlier than a start that are written now. */
  foundEarlier: number[];
  acceptedEarlier: AcceptedEarlier[];
  /** Transactions from before a start that get rows of their own: they have lower keys than others that are new. */
  writtenEarlier: number[];
  settledBodies: SettledBody[];
  /** UTXOs of the table utxos that are spent. */
  spent: { transaction: number; index: number }[];
  /** Empty during the first catch-up. */
  balanceChanges: BalanceChanges;
  /** chain_time of the chain block that remains when `removed` are undone. */
  forkTime: bigint;
  /** Of the chain blocks that are added, in their order; empty during the first catch-up. */
  chainTotals: ChainBlockTotals[];
  virtualMergeSet: number[];
  targetBlueScore: bigint;
  /** Estimate until the target is reached; null at the tip. */
  secondsLeft: number | null;
}
