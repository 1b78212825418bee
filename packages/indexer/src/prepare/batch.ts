/** What one database transaction applies: rows for COPY, changes to existing rows, and changes of the derived state. */
import type { Hash } from '@kasgres/kaspa';
import type { StateChanges } from '@kasgres/state';
import type { BatchRows } from '@kasgres/database';

/** The fields of the checkpoint row that a batch depends on. */
export interface Checkpoint {
  blockId: number;
  hash: Hash;
  blueScore: bigint;
  chainIndex: number;
  /** Running maximum of the timestamps of the chain, Unix milliseconds. */
  chainTime: bigint;
  nextBlockId: number;
  nextTransactionId: number;
  nextScriptId: number;
  nextSubnetworkId: number;
  /** Whether derived state and some indexes are left to the end of the first catch-up. */
  firstCatchUp: boolean;
}

/** A block that was written before, and is merged now. */
export interface MergedBefore {
  block: number;
  mergingBlock: number;
  isBlue: boolean;
}

/** A transaction that was written before, and is accepted now. */
export interface AcceptedBefore {
  transaction: number;
  acceptingBlock: number;
  variant: number | null;
}

/** A transaction that was accepted before, and whose accepted variant is known now. */
export interface SettledVariant {
  transaction: number;
  variant: number;
}

export interface Batch {
  /** The checkpoint that the batch was computed from; apply refuses any other (invariant 2). */
  from: Checkpoint;
  to: Checkpoint;
  removed: Hash[];
  rows: BatchRows;
  mergedBefore: MergedBefore[];
  /** Blocks that were written before and join the chain now. */
  chainBefore: number[];
  /** Pre-bootstrap blocks, known by hash, that are written now. */
  preBootstrapBlocks: number[];
  acceptedBefore: AcceptedBefore[];
  /** Pre-bootstrap transactions that are written now, under lower keys than other new ones. */
  preBootstrapTransactions: number[];
  settledVariants: SettledVariant[];
  /** Undefined during the first catch-up. */
  state: StateChanges | undefined;
  virtualMergeSet: number[];
  targetBlueScore: bigint;
  /** Estimated time to the target; null at the tip. */
  secondsLeft: number | null;
}
