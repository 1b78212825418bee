/**
 * The changes by transactions for those who watch addresses or covenants: what a step has of each
 * kind, and how they are selected.
 */
import { jsonArray, jsonObject } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';

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

/**
 * A row of a statement that selects changes from the table `source`. That has a row for each list
 * of changes and chain block: `n`, which counts the chain blocks that a step removes and adds,
 * `status`, `confirmations` and `position` in the list; of the chain block whose transactions are
 * listed `hash`, `blue_score` and `accepted_transactions`, and its position `index` on the chain or
 * the `covenant_events` that were deleted with it.
 */
export interface ChangeRow<Kind extends Change> {
  n: bigint;
  status: keyof StepChanges<Kind>;
  confirmations: bigint | null;
  position: bigint;
  /** Orders the changes of a chain block, first by transaction. */
  transaction: bigint;
  name: string;
  item: Kind;
}

/** The changes of one status. */
export interface ChangeList<Kind extends Change> {
  status: keyof StepChanges<Kind>;
  /** Null unless these are confirmed. */
  confirmations: number | null;
  changes: Kind[];
}

/** Selects the rows of a table by their lists. @param condition chooses rows */
export const changeLists = <Kind extends Change>(
  table: string,
  condition: RawBuilder<unknown>,
): RawBuilder<ChangeList<Kind>[]> =>
  jsonArray(
    jsonObject<ChangeList<Kind>>({
      status: sql`list.status`,
      confirmations: sql`list.confirmations`,
      changes: sql`list.changes`,
    }),
    sql`from (
      select status, confirmations, json_agg(item order by position, transaction, name) as changes
      from ${sql.table(table)} where ${condition} group by status, confirmations) list`,
  );

/** Returns undefined without lists. @param confirmations the numbers that were read */
export function toStepChanges<Kind extends Change>(
  lists: readonly ChangeList<Kind>[] | null,
  confirmations: readonly number[],
): StepChanges<Kind> | undefined {
  if (lists === null) return undefined;
  const listOf = (status: keyof StepChanges<Kind>, number: number | null = null): Kind[] =>
    lists.find((list) => list.status === status && list.confirmations === number)?.changes ?? [];
  return {
    reverted: listOf('reverted'),
    accepted: listOf('accepted'),
    confirmed: new Map(confirmations.map((number) => [number, listOf('confirmed', number)])),
  };
}
