/** What the direction of travel is in SQL, for listings whose position is more than one column. */
import { type RawBuilder, sql } from 'kysely';
import type { Slice } from './read-page.ts';

export interface Travel {
  /** Compares a row with the position that it must be behind. */
  behind: RawBuilder<unknown>;
  /** Brings the rows nearest to the position first. */
  direction: RawBuilder<unknown>;
}

const DOWNWARDS: Travel = { behind: sql`<`, direction: sql`desc` };
const UPWARDS: Travel = { behind: sql`>`, direction: sql`asc` };

/** @param order of the listing */
export function travelOf({ isBackward }: Pick<Slice<unknown>, 'isBackward'>, order: 'asc' | 'desc'): Travel {
  return (order === 'asc') === isBackward ? DOWNWARDS : UPWARDS;
}
