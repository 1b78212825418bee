/**
 * The interface of a kind of derived state. Each kind keeps the changes of a batch in its own
 * class, where additions and reverts net in memory, so that each row is written once per batch.
 */
import type { ClientBase } from 'pg';
import type { CandidateTransactions } from './first-catch-up/candidate-transactions.ts';
import type { Verification } from './queryable.ts';
import type { RemovedChain } from './removed-chain.ts';
import type { BatchItem, StateChanges } from './state-changes.ts';

type Run = (client: ClientBase) => Promise<unknown>;

/**
 * Computes the state at the end of the first catch-up. Idempotent; the `emptied` tables are empty
 * before.
 */
export interface Rebuild {
  /** @param candidates undefined if this attempt did not see the whole catch-up */
  fromRows?: (client: ClientBase, candidates?: CandidateTransactions) => Promise<unknown>;
  /** From `accepted_deltas`. They may run in parallel with each other and with every `fromRows`. */
  fromDeltas?: readonly Run[];
  /**
   * Runs last, under the lock on the checkpoint, for state that follows from tags, which may change
   * until then.
   */
  locked?: Run;
}

export interface DerivedState {
  collect?(item: BatchItem, changes: StateChanges): void;
  /**
   * Keeps in `changes` what removed chain blocks take back, before anything of the batch is
   * written.
   */
  revert?(client: ClientBase, removed: RemovedChain, changes: StateChanges): Promise<void>;
  /** Reads what `apply` of this kind and of others needs, after the batch's rows are written. */
  read?(client: ClientBase, changes: StateChanges): Promise<void>;
  /**
   * Writes the changes inside the batch's transaction, in a fixed number of statements, while the
   * other kinds do.
   */
  apply?(client: ClientBase, changes: StateChanges): Promise<void>;
  /**
   * When the statements of `apply` are sent. By default while the reads run, or after the batch has
   * updated acceptance and the checkpoint.
   * - before reads: any `read` may wait for what they return.
   * - after reads: it needs what any `read` found, or acceptance or the checkpoint as they were
   *   before the batch; only its first statement is sure to see these.
   */
  readonly applies?: 'before reads' | 'after reads';
  readonly tables?: {
    /** Tables that are truncated before `rebuild`. */
    emptied?: readonly string[];
    /** Further tables that `rebuild` fills; they and the emptied ones are analysed after it. */
    filled?: readonly string[];
    /**
     * Indexes on these tables that are dropped during the first catch-up and created after
     * `rebuild`.
     */
    deferredIndexes?: readonly string[];
  };
  readonly rebuild?: Rebuild;
  /**
   * By the invariant of docs/invariants.md that they verify. `current` is the part of invariant 4
   * that needs no history.
   */
  readonly verify?: Partial<Record<StateInvariant | 'current', Verification>>;
}

export type StateInvariant = 4 | 12;
