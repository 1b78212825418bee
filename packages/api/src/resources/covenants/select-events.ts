/** Selects events of covenants, in pages of whole transactions. */
import { hex, inputFields, joinPrevious, jsonArray, jsonObject, type outpoint, text } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { pageParts, type PageStart, rowsOf } from '../../pages/key-page.ts';
import type { PageMetadataJson } from '../../pages/page-query.ts';
import { programOfScript } from '../programs/revealed.ts';
import { MAX_PAGE_BYTES, spending } from '../transactions/rest/select-transactions.ts';
import type { CovenantEventJson, EventInputJson, EventOutputJson } from './schemas.ts';

const input = inputFields(sql`0`);

/**
 * Bytes of the events of a transaction: its JSON, without signature scripts where these could make
 * a page too long.
 */
const bytes = sql`
  transactions.json_bytes - case when sum(transactions.json_bytes) over () > ${MAX_PAGE_BYTES}
    then 2 * (
    select coalesce(sum(octet_length(signature_script)), 0) from transaction_inputs
      where transaction_id = transactions.id) else 0 end`;

/**
 * The covenant of the UTXO that `input` spends. Those of bootstrap blocks before the latest one are
 * unknown.
 */
const spentCovenant = sql`coalesce(
  (select output.covenant_id from transaction_outputs output
    where output.transaction_id = input.previous_transaction_id
      and output.index = input.previous_index
      and output.index >> 4 = input.previous_index >> 4),
  (select output.covenant_id from bootstrap_utxos output
    where output.transaction_id = input.previous_transaction_id
      and output.index = input.previous_index))`;

/**
 * Makes the tables of a page. It ends between two transactions, since the next one begins behind a
 * transaction; only the first may have more events than the page has room for.
 * @param rows selects the composite type `covenant_events`, in order, one more than the page has
 */
export const eventTables = (
  rows: RawBuilder<unknown>,
  limit: RawBuilder<number>,
): Record<'found' | 'sized' | 'page' | 'spent', RawBuilder<unknown>> => ({
  found: sql`
    select event.covenant_id as key, event.transaction_id, event.chain_index, event.kind,
      event.ordinality as position
    from unnest(${rowsOf(rows)}) with ordinality as event`,
  sized: sql`
    select touched.*, sum(bytes) over (order by first) as bytes_until
    from (
      select touched.*, ${bytes} as bytes
      from (
        select transaction_id, min(position) as first, max(position) as last from found
          group by transaction_id) touched
      join transactions on transactions.id = touched.transaction_id) touched`,
  page: sql`
    select found.*, found.position <= ${limit} and (
      sized.first = 1 or (sized.last <= ${limit}
        and sized.bytes_until <= ${MAX_PAGE_BYTES})) as is_shown
    from found join sized on sized.transaction_id = found.transaction_id`,
  spent: sql`
    select input.transaction_id, input.index, ${input.previousTransactionId} as previous_id,
      input.previous_index, input.amount, input.script_id, ${spentCovenant} as covenant_id
    from (select distinct transaction_id from page where is_shown and kind <> 'genesis') listed
    join transaction_inputs input on input.transaction_id = listed.transaction_id ${joinPrevious}`,
});

const inputs = jsonArray(
  jsonObject<EventInputJson>({
    index: sql<number>`spent.index`,
    previousOutput: jsonObject<z.infer<typeof outpoint>>({
      transactionId: sql`spent.previous_id`,
      index: sql`spent.previous_index`,
    }),
    amount: text('spent.amount'),
    program: programOfScript,
  }),
  sql`
    from spent left join scripts script on script.id = spent.script_id
    where spent.transaction_id = page.transaction_id and spent.covenant_id = covenants.covenant_id
      order by spent.index`,
);

const outputs = jsonArray(
  jsonObject<EventOutputJson>({
    index: sql<number>`output.index`,
    amount: text('output.amount'),
    scriptPublicKey: hex('script.script'),
    scriptPublicKeyAddress: sql<string | null>`script.address`,
    spentBy: sql<string | null>`spending.accepted`,
  }),
  sql`
    from transaction_outputs output join scripts script on script.id = output.script_id
    cross join lateral (${spending}) spending
    where output.transaction_id = page.transaction_id and output.covenant_id = covenants.covenant_id
      order by output.index`,
);

/** Selects the events of `page`. @param items limits and orders its rows */
export const eventsOfPage = (items: RawBuilder<unknown>): RawBuilder<CovenantEventJson[]> =>
  jsonArray(
    jsonObject<CovenantEventJson>({
      covenantId: hex('covenants.covenant_id'),
      transactionId: hex('transactions.transaction_id'),
      kind: sql`page.kind`,
      timestamp: sql`block.timestamp`,
      acceptingBlockHash: hex('block.hash'),
      inputs,
      outputs,
    }),
    sql`
      from page
      join covenants on covenants.id = page.key
      join transactions on transactions.id = page.transaction_id
      join chain_blocks block on block.index = page.chain_index
      ${items}`,
  );

/**
 * Makes the parts of a page of events. If the page ends within a transaction, `scannedTo` names the
 * covenant, too.
 */
export function eventParts(limit: RawBuilder<number>, start: PageStart) {
  const { metadata, ...parts } = pageParts(limit, start, { isBounded: true });
  const split = sql`(
    select encode(transactions.transaction_id, 'hex') || ':' || encode(covenants.covenant_id, 'hex')
    from page last
    join covenants on covenants.id = last.key
      join transactions on transactions.id = last.transaction_id
    where last.is_shown and exists (
      select from page hidden where hidden.transaction_id = last.transaction_id
        and not hidden.is_shown)
    order by last.position desc limit 1)`;
  return {
    ...parts,
    metadata: sql<PageMetadataJson>`(
      select case when split.cursor is null then page_metadata.json else (
        page_metadata.json::jsonb || jsonb_build_object('scannedTo', split.cursor))::json end
      from (select ${metadata} as json) page_metadata
        cross join (select ${split} as cursor) split)`,
  };
}
