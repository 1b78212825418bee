/**
 * The interface of a kind of derived state. Each kind keeps the changes of a batch in its own class, where additions and reverts net in memory,
 * so that each row is written once per batch.
 */
import type { ClientBase } from 'pg';
import type { CandidateTransactions } from './first-catch-up/candidate-transactions.ts';
import type { ChainTotals } from './first-catch-up/chain-totals.ts';
import type { Verification } from './queryable.ts';
import type { BatchItem, RemovedChainBlock, RevertedChainBlock, StateChanges, Utxo } from './state-changes.ts';

export interface CatchUpTotals {
  chain: ChainTotals;
  /** In the order of the keys of their transactions. */
  utxos: Iterable<Utxo>;
}

/** The findings of a first catch-up on its way, as far as one attempt saw all of it. */
export interface CatchUpFindings {
  /** If the whole chain was summed up, so that derived state need not be computed from all rows. */
  totals?: CatchUpTotals | undefined;
  candidates?: CandidateTransactions | undefined;
}

export interface DerivedState {
  readonly name: string;
  collect?(item: BatchItem, changes: StateChanges): void;
  /** Reads what `apply` of this kind and of others needs, after the batch's rows are written. */
  read?(client: ClientBase, changes: StateChanges): Promise<void>;
  /** Whether the statements of `apply` must be sent before those of any `read`, which may wait for what they return. */
  readonly appliesBeforeReads?: boolean;
  /**
   * Whether `apply` needs what any `read` found, or acceptance or the checkpoint as they were before the batch; only its first statement is sure to
   * see these. Kinds without it are applied while the reads run, or after the batch has updated both.
   */
  readonly appliesAfterReads?: boolean;
  /** Writes the changes inside the batch's transaction, in a fixed number of statements, while the other kinds do. */
  apply?(client: ClientBase, changes: StateChanges): Promise<void>;
  /** Reads what only this kind needs of removed chain blocks, and keeps it in `changes`, before anything of the batch is written. */
  readRemoved?(client: ClientBase, removed: readonly RemovedChainBlock[], changes: StateChanges): Promise<void>;
  /** Adds the negative deltas of removed chain blocks to `changes`. */
  revert?(removed: readonly RevertedChainBlock[], changes: StateChanges): void;
  /**
   * Computes the state from rows at the end of the first catch-up. Idempotent; `emptied` tables are empty before.
   * @param candidates undefined if this attempt did not see the whole catch-up
   */
  rebuild?(client: ClientBase, candidates?: CandidateTransactions): Promise<void>;
  /** Computes state from `accepted_deltas`, in the same way, after every `rebuild`. */
  rebuildFromDeltas?(client: ClientBase): Promise<void>;
  /** Writes what was summed up during a first catch-up from genesis: the same rows as the rebuilds, which it replaces. */
  rebuildFromTotals?(client: ClientBase, totals: CatchUpTotals): Promise<void>;
  /** Runs last in the first catch-up, under the lock on the checkpoint, for state that follows from tags, which may change until then. */
  rebuildLocked?(client: ClientBase): Promise<void>;
  /** Tables that are truncated before `rebuild`. */
  readonly emptied?: readonly string[];
  /** Further tables that `rebuild` fills; they and the emptied ones are analysed after it. */
  readonly filled?: readonly string[];
  /** Indexes on these tables that are dropped during the first catch-up and created after `rebuild`. */
  readonly deferredIndexes?: readonly string[];
  /** By the invariant of docs/invariants.md that they verify. */
  readonly verify?: Partial<Record<StateInvariant, Verification>>;
  /** The part of invariant 4 that needs no history. */
  verifyCurrent?: Verification;
}

export type StateInvariant = 4 | 12;
