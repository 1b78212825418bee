/** The changes by transactions for those who watch addresses or covenants: how each kind of change is read, and what a step has of it. */
import type { RawBuilder } from 'kysely';

/** By a transaction that the block accepts, or had accepted. */
export interface Change {
  acceptingBlockHash: string;
  acceptingBlockBlueScore: string;
}

export interface StepChanges<Kind extends Change> {
  /** From the top down, and of one block in the order of acceptance. */
  reverted: Kind[];
  /** In the order of acceptance, like the following. */
  accepted: Kind[];
  /** By number of confirmations. */
  confirmed: ReadonlyMap<number, Kind[]>;
}

/** A row of a statement: a change as JSON. */
export interface Item<Kind> {
  item: Kind;
}

/** Reads one kind of change. Each statement selects the changes in their order. */
export interface ChangeReader<Kind extends Change> {
  /** @param source selects chain blocks: `place` on the chain, `hash`, `blue_score` and `accepted_transactions` */
  selectAccepted: (source: RawBuilder<unknown>) => RawBuilder<Item<Kind>>;
  /** @param source selects removed chain blocks: `place` in the order wanted, `hash`, `blue_score`, `accepted_transactions` and `covenant_events` */
  selectReverted: (source: RawBuilder<unknown>) => RawBuilder<Item<Kind>>;
}
