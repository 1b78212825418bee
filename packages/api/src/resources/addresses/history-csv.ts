/** The transactions of an address as CSV, streamed in chunks by key: later chunks may show a later state, and no snapshot is held open. */
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { IndexReader } from '../../index-state/state.ts';
import { commonTable } from '../../index-state/statement.ts';
import { isAccepted } from '../transactions/fields.ts';
import { joinAmounts } from './amounts.ts';
import { filterBy, type HistoryFilter, shapeOf, timedTables } from './history-filter.ts';

export const MAX_CSV_ROWS = 100_000;
const CHUNK_ROWS = 1000;

const COLUMNS = [
  'transaction_id',
  'accepted_at',
  'is_accepted',
  'is_coinbase',
  'amount_sent_sompi',
  'amount_received_sompi',
  'balance_change_sompi',
  'accepting_block_hash',
] as const;

type Row = Record<(typeof COLUMNS)[number], string | null> & { key: bigint };

export function csvOf(index: IndexReader, address: string, filter: HistoryFilter, caller: string): Readable {
  return Readable.from(linesOf(index, address, filter, caller), { objectMode: false });
}

async function* linesOf(index: IndexReader, address: string, filter: HistoryFilter, caller: string) {
  yield `${COLUMNS.join(',')}\n`;
  const { from = null, to = null, min_amount: minimum = null } = filter;
  const shape = shapeOf(filter);
  const scriptId = sql`(select id from script)`;
  const conditions = [sql`script_id = ${scriptId}`, ...filterBy(shape, sql`${minimum}::numeric`)];
  const tables = {
    script: sql`select id from scripts where address = ${address}`,
    ...(shape.isTimed && timedTables({ from: sql`${from}::bigint`, to: sql`${to}::bigint` }, scriptId)),
  };
  let below = 9_223_372_036_854_775_807n;
  for (let count = 0; count < MAX_CSV_ROWS; count += CHUNK_ROWS) {
    const rows = await index.read(async ({ db }) => {
      const found = await sql<Row>`
        with ${sql.join(Object.entries(tables).map(commonTable))}
        select page.key, encode(transactions.transaction_id, 'hex') as transaction_id,
          to_char(to_timestamp(accepting.chain_time / 1000.0) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as accepted_at,
          (${isAccepted()})::text as is_accepted, (transactions.subnetwork_id = 1)::text as is_coinbase,
          amounts.sent::text as amount_sent_sompi, amounts.received::text as amount_received_sompi,
          (amounts.received - amounts.sent)::text as balance_change_sompi, encode(accepting.hash, 'hex') as accepting_block_hash
        from unnest(array(
          select distinct transaction_id from script_deltas
          where ${sql.join(conditions, sql` and `)} and transaction_id < ${below}
          order by transaction_id desc limit ${CHUNK_ROWS})) as page (key)
        join transactions on transactions.id = page.key
        left join chain_blocks accepting on accepting.index = transactions.accepting_index
        ${joinAmounts(scriptId)}
        order by page.key desc`.execute(db);
      return found.rows;
    }, caller);
    if (rows.length > 0) yield `${rows.map(toLine).join('\n')}\n`;
    if (rows.length < CHUNK_ROWS) return;
    below = (rows.at(-1) as Row).key;
  }
}

/** No value contains a comma or a quote. */
const toLine = (row: Row): string => COLUMNS.map((column) => row[column] ?? '').join(',');
