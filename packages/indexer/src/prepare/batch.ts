/**
 * The content of one database transaction: rows for COPY, changes to existing rows, and changes of
 * the derived state.
 */
import type { BatchRows, BlockKey, ChainTime } from '@kasgres/database';
import type { BlueScore, Hash } from '@kasgres/kaspa';
import type { StateChanges } from '@kasgres/state';

export interface Checkpoint {
  blockId: BlockKey;
  hash: Hash;
  blueScore: BlueScore;
  chainIndex: number;
  /** Running maximum of the timestamps of the chain, Unix milliseconds. */
  chainTime: ChainTime;
  nextBlockId: number;
  nextTransactionId: number;
  nextScriptId: number;
  nextSubnetworkId: number;
  /** Whether derived state and some indexes are left to the end of the first catch-up. */
  firstCatchUp: boolean;
}

export type Fork = Pick<Checkpoint, 'blockId' | 'hash' | 'blueScore' | 'chainIndex' | 'chainTime'>;

export interface Batch {
  from: Checkpoint;
  to: Checkpoint;
  removed: Hash[];
  /** Chain index; what chain blocks accepted that were written earlier and removed is not kept. */
  oldestRemoved: number;
  rows: BatchRows;
  mergedBefore: { block: number; mergingBlock: number; isBlue: boolean }[];
  chainBefore: number[];
  preBootstrapBlocks: number[];
  acceptedBefore: { transaction: number; chainIndex: number; variant: number | null }[];
  /** Pre-bootstrap transactions that are written now, under lower keys than other new ones. */
  preBootstrapTransactions: number[];
  settledVariants: { transaction: number; variant: number }[];
  /** Undefined during the first catch-up. */
  state: StateChanges | undefined;
  virtualMergeSet: number[];
  targetBlueScore: BlueScore;
  secondsLeft: number | null;
}
