/** Filters of the transactions of an address. */
import { isAccepted, uint64Input } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { timeRange } from '../../pages/time-range.ts';

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

/** The part of a filter that distinguishes statements, with values as parameters or inline. */
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

/** Whether a page may read many more transactions than it has. */
export const isFiltered = ({ acceptedOnly, isTimed, direction, hasMinimum }: FilterShape): boolean =>
  acceptedOnly || isTimed || direction !== '' || hasMinimum;

type Value = RawBuilder<unknown>;

const FIRST = sql`0::bigint`;
/** Beyond every key and position. */
const BEYOND = sql`9223372036854775807::bigint`;
/** As in the index chain_blocks_late. */
const LATE_BY = sql.lit(10_000);

/** Selects the position of the first chain block at or after a time; null if there is none. */
const positionAt = (time: Value): Value => sql`(
  select c.index from chain_blocks c
  where to_timestamp(c.chain_time / 1000::double precision) >= to_timestamp(${time} / 1000::double precision)
  order by to_timestamp(c.chain_time / 1000::double precision), c.index limit 1)`;

/**
 * Selects in `period` the chain blocks of a range of time, and in `timed` the keys between which
 * the transactions of a script are that these blocks accept. Keys are in the order of first
 * writing, which is about that of acceptance: a block accepts none that were written after it was
 * added, and few that were written long before.
 */
export const timedTables = ({ from, to }: Record<'from' | 'to', Value>, scriptId: Value): Record<string, Value> => ({
  period: sql`
    select case when ${from}::bigint is null then ${FIRST}
      else coalesce(${positionAt(from)}, ${BEYOND}) end as begins_at,
      case when ${to}::bigint is null then ${BEYOND}
        else coalesce(${positionAt(to)}, ${BEYOND}) end as ends_at`,
  bounds: sql`
    select begins_at, ends_at,
      case when begins_at = ${FIRST} then ${FIRST}
        else coalesce((select highest_transaction - ${LATE_BY} from chain_blocks
          where index = begins_at), ${BEYOND}) end as first_key,
      case when ends_at = ${BEYOND} then ${BEYOND}
        else coalesce((select highest_transaction from chain_blocks where index = ends_at - 1),
          -1) end as last_key
    from period`,
  timed: sql`
    select last_key, case when first_key = ${FIRST} then first_key else least(first_key, (
      select min(accepted.key) from chain_blocks late
        cross join unnest(late.accepted_transactions) accepted (key)
      where late.lowest_transaction < late.highest_transaction - ${LATE_BY}
        and late.lowest_transaction < first_key
        and late.index >= begins_at and late.index < ends_at and accepted.key < first_key
        and exists (select from script_deltas touch
          where touch.transaction_id = accepted.key and touch.script_id = ${scriptId} offset 0)
    )) end as first_key
    from bounds`,
});

/** Conditions of a query of `script_deltas` of a script. */
export interface HistoryConditions {
  /** The index selects these rows. */
  where: Value[];
  /**
   * Drops any number of rows; undefined if there is no filter. `offset 0` keeps Postgres from
   * joins, so that reading stops with the page.
   */
  filter: Value | undefined;
}

export function filterBy(shape: FilterShape, minimum: Value): HistoryConditions {
  const filters: Value[] = [];
  if (shape.isTimed) {
    filters.push(sql`exists (
      select from transactions
      where id = script_deltas.transaction_id
        and accepting_index >= (select begins_at from period)
          and accepting_index < (select ends_at from period) offset 0)`);
  } else if (shape.acceptedOnly) {
    filters.push(
      sql`exists (select from transactions where id = script_deltas.transaction_id and ${isAccepted()} offset 0)`,
    );
  }
  if (shape.direction !== '' || shape.hasMinimum) {
    const sign = { '': sql`abs(moved.change)`, received: sql`moved.change`, sent: sql`-moved.change` }[shape.direction];
    filters.push(sql`exists (
      select from (
        select sum(one.amount_received - one.amount_sent) as change from script_deltas one
        where one.transaction_id = script_deltas.transaction_id
          and one.script_id = (select id from script) offset 0) moved
      where ${sign} >= ${shape.hasMinimum ? sql`greatest(${minimum}, 1)` : sql`1`})`);
  }
  return {
    where: shape.isTimed
      ? [sql`transaction_id >= (select first_key from timed)`, sql`transaction_id <= (select last_key from timed)`]
      : [],
    filter: filters.length === 0 ? undefined : sql.join(filters, sql` and `),
  };
}
