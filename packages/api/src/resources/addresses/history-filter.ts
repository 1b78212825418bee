/** Filters of the transactions of an address. */
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { timeRange } from '../../pages/time-range.ts';
import { uint64Input } from '../../schemas/values.ts';
import { isAccepted } from '../transactions/fields.ts';

export const historyFilter = {
  ...timeRange,
  direction: z
    .enum(['received', 'sent'])
    .optional()
    .meta({ description: 'Only transactions that pay the address more than they take from it, or the other way' }),
  min_amount: uint64Input
    .optional()
    .meta({ description: 'Only transactions that change the balance by at least this many sompi' }),
};

export interface HistoryFilter {
  acceptedOnly: boolean;
  from?: number | undefined;
  to?: number | undefined;
  direction?: 'received' | 'sent' | undefined;
  min_amount?: bigint | undefined;
}

/** What distinguishes statements, with values as parameters or inline. */
export interface FilterShape {
  acceptedOnly: boolean;
  isTimed: boolean;
  direction: '' | 'received' | 'sent';
  hasMinimum: boolean;
}

export const shapeOf = ({ acceptedOnly, from, to, direction, min_amount: minimum }: HistoryFilter): FilterShape => ({
  acceptedOnly,
  isTimed: from !== undefined || to !== undefined,
  direction: direction ?? '',
  hasMinimum: minimum !== undefined,
});

export interface FilterValues {
  from: RawBuilder<unknown>;
  to: RawBuilder<unknown>;
  minimum: RawBuilder<unknown>;
}

/** Within a query of `script_deltas` of the script. `offset 0` keeps Postgres from joins, so that reading stops with the page. */
export function filterBy(shape: FilterShape, { from, to, minimum }: FilterValues): RawBuilder<unknown>[] {
  const conditions: RawBuilder<unknown>[] = [];
  if (shape.isTimed) {
    conditions.push(sql`exists (
      select from transactions join chain_blocks accepting on accepting.index = transactions.accepting_index
      where transactions.id = script_deltas.transaction_id
        and accepting.chain_time >= coalesce(${from}, 0) and accepting.chain_time < coalesce(${to}, 9223372036854775807) offset 0)`);
  } else if (shape.acceptedOnly) {
    // Few transactions are not accepted.
    conditions.push(
      sql`exists (select from transactions where id = script_deltas.transaction_id and ${isAccepted()} offset 0)`,
    );
  }
  if (shape.direction !== '' || shape.hasMinimum) {
    const sign = { '': sql`abs(moved.change)`, received: sql`moved.change`, sent: sql`-moved.change` }[shape.direction];
    conditions.push(sql`exists (
      select from (
        select sum(one.amount_received - one.amount_sent) as change from script_deltas one
        where one.transaction_id = script_deltas.transaction_id and one.script_id = (select id from script) offset 0) moved
      where ${sign} >= ${shape.hasMinimum ? sql`greatest(${minimum}, 1)` : sql`1`})`);
  }
  return conditions;
}

/** The same with the values inline, each after `and`. */
export function conditionsOf(filter: HistoryFilter): RawBuilder<unknown> {
  const { from = null, to = null, min_amount: minimum = null } = filter;
  const conditions = filterBy(shapeOf(filter), {
    from: sql`${from}::bigint`,
    to: sql`${to}::bigint`,
    minimum: sql`${minimum}::numeric`,
  });
  return conditions.length === 0 ? sql`` : sql`and ${sql.join(conditions, sql` and `)}`;
}
