/** GET /v1/addresses/{address}/balance-history: the balance at the end of each hour, day or month. */
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { findScriptOfRequest } from '../../schemas/address.ts';
import { addressInput, sompi, timestamp } from '../../schemas/values.ts';
import { listGaps } from '../chain/segments.ts';

/** Hours of more than a year, and days of 27 years. */
const MAX_INTERVALS = 10_000;

export const INTERVALS = ['hour', 'day', 'month'] as const;
type Interval = (typeof INTERVALS)[number];

const balanceHistory = z.object({
  history: z
    .array(
      z.object({
        timestamp: timestamp.meta({
          description: 'End of the interval, which is the start of the next one: Unix time in milliseconds',
        }),
        balance: sompi,
      }),
    )
    .meta({
      description: `One entry for each interval from the first change of the balance to the sink, oldest first; the newest ${MAX_INTERVALS} if there are more. A change counts at the latest time of the chain up to the accepting block, since times of blocks may decrease. If the index does not begin at genesis, the balance at its first block is the first change. Intervals that end in a gap of the index are omitted.`,
    }),
  gaps: z
    .array(
      z.object({
        from: timestamp.meta({ description: 'Time of the last block before the gap' }),
        to: timestamp.meta({ description: 'Time of the first block after the gap' }),
      }),
    )
    .optional()
    .meta({
      description:
        'Gaps of the index since the first interval; absent if there are none. All changes in a gap appear as one change in the interval in which the gap ends',
    }),
});

/** Finds the first hour in which the balance changed. */
async function findFirstHour(db: Db, scriptId: bigint): Promise<number | undefined> {
  const row = await db
    .selectFrom('balance_changes')
    .select('hour')
    .where('script_id', '=', scriptId)
    .where('change', '<>', 0n)
    .orderBy('hour')
    .limit(1)
    .executeTakeFirst();
  return row?.hour;
}

export interface BalanceDelta {
  /** Hours since 1970. */
  hour: number;
  /** In sompi. */
  change: bigint;
}

/** Lists the deltas since an hour, ascending. */
function listDeltas(db: Db, scriptId: bigint, fromHour: number): Promise<BalanceDelta[]> {
  return db
    .selectFrom('balance_changes')
    .select(['hour', 'change'])
    .where('script_id', '=', scriptId)
    .where('hour', '>=', fromHour)
    .where('change', '<>', 0n)
    .orderBy('hour')
    .execute();
}

/** Returns the balance at the sink, and the chain time of the sink, whose hour is the last one. */
function getLatest({ db, state }: Reading, scriptId: bigint) {
  return db
    .selectFrom('balances')
    .innerJoin('chain_blocks', (join) => join.on('chain_blocks.index', '=', state.sinkChainIndex))
    .select(['balances.balance', 'chain_blocks.chain_time'])
    .where('balances.script_id', '=', scriptId)
    .executeTakeFirstOrThrow();
}

const HOUR_MS = 3_600_000;
const HOURS_PER_DAY = 24;

export const toMilliseconds = (hour: number): number => hour * HOUR_MS;

/** Numbers the intervals since 1970 (UTC) consecutively; hours are counted since 1970. */
export const numberings: Record<
  Interval,
  { numberOf: (hour: number) => number; firstHourOf: (interval: number) => number }
> = {
  hour: { numberOf: (hour) => hour, firstHourOf: (interval) => interval },
  day: { numberOf: (hour) => Math.floor(hour / HOURS_PER_DAY), firstHourOf: (interval) => interval * HOURS_PER_DAY },
  month: {
    numberOf: (hour) => {
      const time = new Date(toMilliseconds(hour));
      return (time.getUTCFullYear() - 1970) * 12 + time.getUTCMonth();
    },
    firstHourOf: (interval) => Date.UTC(1970, interval) / HOUR_MS,
  },
};

export interface HistoryOptions {
  interval: Interval;
  /** Numbers of the first and last interval. */
  first: number;
  last: number;
  /** All deltas since the start of the first interval, ascending. */
  deltas: readonly BalanceDelta[];
  /** The balance after all deltas, in sompi. */
  balance: bigint;
  /** Gaps of the index, in Unix milliseconds. */
  gaps: readonly { from: number; to: number }[];
}

export function toHistory({ interval, first, last, deltas, balance, gaps }: HistoryOptions) {
  const { numberOf, firstHourOf } = numberings[interval];
  const byInterval = Map.groupBy(deltas, ({ hour }) => numberOf(hour));
  const history: z.infer<typeof balanceHistory>['history'] = [];
  let running = balance - sumOf(deltas);
  for (let number = first; number <= last; number += 1) {
    running += sumOf(byInterval.get(number) ?? []);
    const timestamp = toMilliseconds(firstHourOf(number + 1));
    if (!gaps.some(({ from, to }) => from < timestamp && timestamp <= to)) {
      history.push({ timestamp, balance: String(running) });
    }
  }
  return history;
}

const sumOf = (deltas: readonly BalanceDelta[]): bigint => deltas.reduce((sum, { change }) => sum + change, 0n);

export const getAddressBalanceHistory = indexRoute(
  {
    method: 'GET',
    url: '/v1/addresses/:address/balance-history',
    operationId: 'getAddressBalanceHistory',
    summary: 'Balance of an address at the end of each hour, day or month',
    tag: 'Address',
    cost: 0.1,
    params: z.strictObject({ address: addressInput }),
    query: z.strictObject({ interval: z.enum(INTERVALS).default('day').meta({ description: 'In UTC' }) }),
    response: balanceHistory,
  },
  async (reading, { params: { address }, query: { interval } }) => {
    const { db } = reading;
    const scriptId = await findScriptOfRequest(reading, address);
    const firstHour = scriptId === undefined ? undefined : await findFirstHour(db, scriptId);
    if (scriptId === undefined || firstHour === undefined) return { history: [] };

    const { numberOf, firstHourOf } = numberings[interval];
    const { balance, chain_time } = await getLatest(reading, scriptId);
    const last = numberOf(Number(chain_time / BigInt(HOUR_MS)));
    const first = Math.max(numberOf(firstHour), last - MAX_INTERVALS + 1);
    // The history is computed backwards from the balance now, so that no delta before the first interval is read.
    const deltas = await listDeltas(db, scriptId, firstHourOf(first));
    const startTime = toMilliseconds(firstHourOf(first));
    const gaps = (await listGaps(reading)).filter(({ before }) => before.chainTime > startTime);
    const toPeriods = (time: 'chainTime' | 'timestamp') =>
      gaps.map(({ after, before }) => ({ from: Number(after[time]), to: Number(before[time]) }));
    return {
      history: toHistory({ interval, first, last, deltas, balance, gaps: toPeriods('chainTime') }),
      ...(gaps.length > 0 && { gaps: toPeriods('timestamp') }),
    };
  },
);
