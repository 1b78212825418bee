/**
 * The history of an address in the order of `block_time`, by which clients of kaspa-rest-server
 * page. This time is not stored. Keys are nearly in its order, so that a page needs the times of
 * the keys around it only.
 */
import {
  type AddressParameters,
  isAccepted,
  type ParameterOf,
  scriptIdOf,
  Statement,
  statementsBy,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { rowsOf } from '../pages/key-page.ts';
import { containing, joinAccepting, unlessTooLarge } from '../resources/transactions/rest/select-transactions.ts';
import { timedTransactions } from './queries.ts';

/**
 * The keys of an address on each side of a page whose times are read in any case: the order of keys
 * may differ from that of times.
 */
const MARGIN = 500;
/**
 * A block's time is above the median of the 44 minutes before it, and at most 132 s ahead of the
 * clocks of nodes (kaspad). A busy address does more than MARGIN meanwhile; of its keys within
 * these times, up to MAX_MARGIN are read.
 */
const LATE_MS = 22 * 60_000;
const EARLY_MS = 132_000;
const MAX_MARGIN = 3_000;
/** Where a page begins: at the newest transaction, or beyond a time. */
type HistoryStart = 'newest' | 'before' | 'after';

interface HistoryVariant {
  start: HistoryStart;
  acceptedOnly: boolean;
}

interface HistoryParameters extends AddressParameters {
  limit: number;
  /** Unix milliseconds, exclusive. */
  time?: number | undefined;
}

type Value = RawBuilder<unknown>;

const HIGHEST_KEY = sql.lit(9_223_372_036_854_775_807n);
const HIGHEST_TIME = sql.lit(Number.MAX_SAFE_INTEGER);

/**
 * Selects the last key that was written up to a time of the chain; after the sink, the highest of
 * all.
 */
const keyAt = (time: Value): Value => sql`coalesce((
  select case when c.index = (select chain_index from checkpoint) then ${HIGHEST_KEY}
    else c.highest_transaction end
  from chain_blocks c
  where to_timestamp(c.chain_time / 1000::double precision) <= to_timestamp(${time} / 1000::double precision)
  order by to_timestamp(c.chain_time / 1000::double precision) desc, c.index desc limit 1), 0)`;

/** Selects keys with their times. */
const timed = (keysOf: Value): Value => sql`
  select transactions.id as key, containing."blockTime" as time
  from unnest(${keysOf}) as listed (id)
  join transactions on transactions.id = listed.id
  ${joinAccepting}
  cross join lateral (${containing}) containing`;

/**
 * Selects the transactions of an address next to a time, newest first, with the times of the first
 * and the last, and whether there are others beyond them. A full page has all transactions of these
 * two times. The first catch-up must have finished.
 */
export const historyPage = statementsBy(
  'history of rest-server',
  (parameter: ParameterOf<HistoryParameters>, { start, acceptedOnly }: HistoryVariant) => {
    const limit = parameter('limit', 'bigint');
    const time = start === 'newest' ? HIGHEST_TIME : parameter('time', 'bigint');
    // `offset 0` keeps Postgres from joins, so that reading stops with the page.
    const isWanted = acceptedOnly
      ? sql`and exists (
          select from transactions t
            where t.id = script_deltas.transaction_id and ${isAccepted('t')} offset 0)`
      : sql``;
    const keys = (condition: Value): Value => sql`
      select distinct transaction_id from script_deltas
      where script_id = (select id from script) ${condition} ${isWanted} order by transaction_id`;
    const isAfter = start === 'after';
    const [beyond, order] = isAfter ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`];
    const older = sql`and transaction_id <= (select key from anchor)`;
    const newer = sql`and transaction_id > (select key from anchor)`;
    const earliest = isAfter ? time : sql`least(${time}, (select time from last))`;
    const latest = isAfter ? sql`greatest(${time}, (select time from last))` : time;
    const inReach = (side: Value): Value =>
      sql`select count(*) from (${keys(side)} limit ${sql.lit(MAX_MARGIN)}) counted`;
    const olderInReach = inReach(
      sql`${older} and transaction_id > ${keyAt(sql`(${earliest} - ${sql.lit(EARLY_MS)})`)}`,
    );
    const newerInReach = inReach(sql`${newer} and transaction_id <= ${keyAt(sql`(${latest} + ${sql.lit(LATE_MS)})`)}`);
    // Beside those in reach, the side of the page has its items and the next one.
    const [ofOlder, ofNewer] = isAfter ? [sql`0`, sql`${limit} + 1`] : [sql`${limit} + 1`, sql`0`];
    const nearest = (side: Value, from: Value, items: Value, count: Value): Value =>
      rowsOf(sql`${keys(side)} ${from} limit ${items} + greatest(${sql.lit(MARGIN)}, (${count}))`);
    const nearestOlder = nearest(older, sql`desc`, ofOlder, olderInReach);
    return unlessTooLarge(
      { includePayload: true },
      {
        tables: {
          script: sql`select ${scriptIdOf(parameter)} as id`,
          anchor: sql`select ${start === 'newest' ? HIGHEST_KEY : keyAt(time)} as key`,
          // The first item beyond the page, in the order of keys.
          last: timed(rowsOf(sql`${keys(isAfter ? newer : older)} ${order} offset ${limit} limit 1`)),
          near: timed(
            start === 'newest'
              ? nearestOlder
              : sql`${nearestOlder} || ${nearest(newer, sql`asc`, ofNewer, newerInReach)}`,
          ),
          edges: sql`
          select min(time) as oldest, max(time) as newest from (
            select time from near where time ${beyond} ${time} order by time ${order}, key ${order}
            limit ${limit}) chosen`,
          page: sql`
          select key, time, row_number() over (order by time desc, key desc) as position
          from near where time between (select oldest from edges) and (select newest from edges)`,
        },
        body: jsonBuildObject({
          newest: sql<number | null>`(select newest from edges)`,
          oldest: sql<number | null>`(select oldest from edges)`,
          hasOlder: sql<boolean>`exists (select from near where time < (select oldest from edges))`,
          hasNewer: sql<boolean>`exists (select from near where time > (select newest from edges))`,
          // The last one (convert.ts).
          transactions: timedTransactions(sql`order by page.position`),
        }),
      },
    );
  },
);

/**
 * Selects transactions of an address, newest first in the order of keys. The first catch-up must
 * have finished.
 */
export const newestTransactions = new Statement(
  'newest transactions of rest-server',
  (parameter: ParameterOf<AddressParameters & { limit: number; offset: number }>) =>
    unlessTooLarge(
      { includePayload: true },
      {
        tables: {
          script: sql`select ${scriptIdOf(parameter)} as id`,
          page: sql`
        select keys.key from unnest(${rowsOf(sql`
          select distinct transaction_id from script_deltas
            where script_id = (select id from script)
          order by transaction_id desc
            limit ${parameter('limit', 'bigint')}
              offset ${parameter('offset', 'bigint')}`)}) as keys (key)`,
        },
        body: jsonBuildObject({ transactions: timedTransactions(sql`order by page.key desc`) }),
      },
    ),
);
