/**
 * The routes that read network_intervals: which intervals a request names, how they are selected,
 * and the form of the response.
 */
import { type ParameterOf } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { requireTimeRange } from '../../pages/time-range.ts';

const MAX_INTERVALS = 1000;
const DEFAULT_INTERVALS = 100;

export const INTERVAL_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

type Interval = keyof typeof INTERVAL_MS;

export interface IntervalParameters {
  from?: number | undefined;
  to?: number | undefined;
  limit: number;
}

interface Range extends Omit<IntervalParameters, 'limit'> {
  interval: Interval;
}

export interface IntervalVariant {
  interval: Interval;
  isFrom: boolean;
}

export const intervalsDescription = `At most ${MAX_INTERVALS} intervals from \`from\` on; without it the latest ${DEFAULT_INTERVALS}. Intervals without a chain block are left out.`;

export const historyOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    history: z.array(item).meta({ description: 'Oldest first' }),
    hasMore: z
      .boolean()
      .meta({ description: 'Whether there are more intervals: later ones with `from`, earlier ones without it' }),
  });

/** @throws HttpError 400 for a range that ends before it begins */
export function intervalsOf({ interval, from, to }: Range): {
  variant: IntervalVariant;
  parameters: IntervalParameters;
} {
  requireTimeRange({ from, to });
  const isFrom = from !== undefined;
  const limit = isFrom ? MAX_INTERVALS : DEFAULT_INTERVALS;
  return { variant: { interval, isFrom }, parameters: { from, to, limit } };
}

/** Selects intervals as `listed`, without `from` the latest ones before `to`. */
export function intervalParts(
  parameter: ParameterOf<IntervalParameters>,
  { interval, isFrom }: IntervalVariant,
): {
  tables: Record<'found' | 'listed', RawBuilder<unknown>>;
  length: RawBuilder<number>;
  hasMore: RawBuilder<boolean>;
} {
  const limit = parameter('limit', 'bigint');
  const order = isFrom ? sql`asc` : sql`desc`;
  return {
    tables: {
      found: sql`
        select * from network_intervals
        where length = ${sql.lit(interval)}
          and start < coalesce(${parameter('to', 'bigint')}, 9223372036854775807)
          ${isFrom ? sql`and start >= ${parameter('from', 'bigint')}` : sql``}
        order by start ${order} limit ${limit} + 1`,
      listed: sql`select * from found order by start ${order} limit ${limit}`,
    },
    length: sql.lit(INTERVAL_MS[interval]),
    hasMore: sql<boolean>`(select count(*) > ${limit} from found)`,
  };
}
