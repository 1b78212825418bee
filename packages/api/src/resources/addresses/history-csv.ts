/**
 * The transactions of an address as CSV, streamed in chunks by key: later chunks may show a later
 * state, and no snapshot is held open. Each chunk is charged before it is sent. Amounts are zero
 * unless the indexed chain accepts the transaction, so that the plain sum of a column is the change
 * of the balance.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { commonTable, type IndexReader, isAccepted } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { UnpaidError } from '../../limits/charge-as-read.ts';
import { fromLastExamined, keepWhere } from '../../pages/key-page.ts';
import { containing, joinAccepting } from '../transactions/rest/select-transactions.ts';
import { joinAmounts } from './amounts.ts';
import { filterBy, type HistoryFilter, shapeOf, timedTables } from './history-filter.ts';

export const MAX_CSV_ROWS = 100_000;
const CHUNK_ROWS = 1000;
/** Rows that cost as much as a page. The request itself pays for the first ones. */
export const ROWS_PER_PAGE = 100;
/** In this time, the network takes the last rows, before the connection is closed. */
const LAST_ROWS_MS = 1000;

/**
 * In the order of the file. New ones come last, since readers may count them. The last five are the
 * simple template of Koinly.
 */
const COLUMNS = [
  'transaction_id',
  'accepted_at',
  'is_accepted',
  'is_coinbase',
  'amount_sent_sompi',
  'amount_received_sompi',
  'balance_change_sompi',
  'accepting_block_hash',
  'block_time',
  'fee_sompi',
  'amount_sent_kas',
  'amount_received_kas',
  'balance_change_kas',
  'fee_kas',
  'Koinly Date',
  'Amount',
  'Currency',
  'Label',
  'TxHash',
] as const;

type Row = Record<(typeof COLUMNS)[number], string | null> & { key: bigint };

interface Chunk {
  rows: Row[];
  /** The key below which there may be more rows. */
  next: bigint | undefined;
}

/**
 * Reads up to `limit` rows below a key, newest first; fewer, maybe none, if a filter drops many.
 */
export type ReadRows = (below: bigint, limit: number) => Promise<Chunk>;

interface Payment {
  /** Charges pages of rows beyond the first one, and may wait. @throws UnpaidError */
  charge: (pages: number) => Promise<void>;
  /** Pages that may be charged at once. */
  maxPages: number;
}

export function csvOf(readRows: ReadRows, payment: Payment): Readable {
  return Readable.from(paidLinesOf(readRows, payment), { objectMode: false });
}

/**
 * If the rest cannot be paid for, the last line says so, and the error closes the connection, so
 * that the client notices, too.
 */
async function* paidLinesOf(readRows: ReadRows, payment: Payment) {
  try {
    yield* linesOf(readRows, payment);
  } catch (error) {
    if (!(error instanceof UnpaidError)) throw error;
    yield `incomplete: ${error.message}\n`;
    await sleep(LAST_ROWS_MS);
    throw error;
  }
}

async function* linesOf(readRows: ReadRows, { charge, maxPages }: Payment) {
  yield `${COLUMNS.join(',')}\n`;
  let below = 9_223_372_036_854_775_807n;
  let limit = ROWS_PER_PAGE;
  let isPaid = true;
  for (let count = 0; count < MAX_CSV_ROWS; ) {
    const { rows, next } = await readRows(below, limit);
    if (rows.length === 0 && next === undefined) return;
    if (!isPaid) await charge(Math.max(Math.ceil(rows.length / ROWS_PER_PAGE), 1));
    isPaid = false;
    if (rows.length > 0) yield `${rows.map(toLine).join('\n')}\n`;
    if (next === undefined) return;
    count += rows.length;
    limit = Math.min(CHUNK_ROWS, maxPages * ROWS_PER_PAGE, MAX_CSV_ROWS - count);
    below = next;
  }
}

export function rowReader(index: IndexReader, address: string, given: HistoryFilter, caller: string): ReadRows {
  const { from = null, to = null, min_amount: minimum = null } = given;
  const shape = shapeOf(given);
  const scriptId = sql`(select id from script)`;
  const { where, filter } = filterBy(shape, sql`${minimum}::numeric`);
  const keysBelow = (key: bigint): RawBuilder<unknown> => sql`
    select distinct transaction_id from script_deltas
    where ${sql.join(
      [sql`script_id = ${scriptId}`, ...where, sql`transaction_id < ${key}`],
      sql`
      and `,
    )}
    order by transaction_id desc`;
  const order = { table: 'script_deltas', column: 'transaction_id', isBackward: false };
  const tables = {
    script: sql`select id from scripts where address = ${address}`,
    ...(shape.isTimed && timedTables({ from: sql`${from}::bigint`, to: sql`${to}::bigint` }, scriptId)),
  };
  const withTables = sql`with ${sql.join(Object.entries(tables).map(commonTable))}`;
  return (below, limit) =>
    index.read(async ({ db }) => {
      const keys = keysBelow(below);
      const wanted = filter === undefined ? keys : keepWhere(keys, filter, order);
      const { rows } = await sql<Row>`
        ${withTables}
        select page.key, encode(transactions.transaction_id, 'hex') as transaction_id,
          ${timeOf(sql`accepting.chain_time`)} as accepted_at,
          (${isAccepted()})::text as is_accepted,
          (transactions.subnetwork_id = 1)::text as is_coinbase,
            counted.sent::text as amount_sent_sompi,
            counted.received::text as amount_received_sompi,
          (counted.received - counted.sent)::text as balance_change_sompi,
            encode(accepting.hash, 'hex') as accepting_block_hash,
          ${timeOf(sql`containing."blockTime"`)} as block_time, counted.fee::text as fee_sompi,
          ${kasOf(sql`counted.sent`)} as amount_sent_kas, ${kasOf(sql`counted.received`)} as amount_received_kas,
          ${kasOf(sql`counted.received - counted.sent`)} as balance_change_kas, ${kasOf(sql`counted.fee`)} as fee_kas,
          to_char(${utc(sql`accepting.chain_time`)},
            'YYYY-MM-DD HH24:MI:SS "UTC"') as "Koinly Date",
          ${kasOf(sql`counted.received - counted.sent`)} as "Amount", 'KAS' as "Currency",
          case when transactions.subnetwork_id = 1 then 'mining' end as "Label",
          encode(transactions.transaction_id, 'hex') as "TxHash"
        from unnest(array(${wanted} limit ${limit})) as page (key)
        join transactions on transactions.id = page.key
        ${joinAccepting}
        ${joinAmounts(scriptId)}
        cross join lateral (${containing}) containing
        cross join lateral (
          select case when is_counted then amounts.sent else 0 end as sent,
            case when is_counted then amounts.received else 0 end as received,
            case when is_counted and amounts.sent > 0 then transactions.fee end as fee
          from (select transactions.accepting_index is not null as is_counted) acceptance) counted
        order by page.key desc`.execute(db);
      if (rows.length === limit) return { rows, next: rows.at(-1)?.key };
      if (filter === undefined) return { rows, next: undefined };
      const examined = await sql<{ key: bigint }>`
        ${withTables} select transaction_id as key from (${fromLastExamined(keys, 1)}) last`.execute(db);
      return { rows, next: examined.rows[0]?.key };
    }, caller);
}

/** Selects a time in UTC. @param time Unix milliseconds */
const utc = (time: RawBuilder<unknown>): RawBuilder<unknown> => sql`to_timestamp(${time} / 1000.0) at time zone 'utc'`;

const timeOf = (time: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  to_char(${utc(time)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const kasOf = (sompi: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`((${sompi}) / 100000000.0)::numeric(38, 8)::text`;

/** No value contains a comma or a quote. */
const toLine = (row: Row): string => COLUMNS.map((column) => row[column] ?? '').join(',');
