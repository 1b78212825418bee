/** Selects pages of inscriptions, newest transaction first: of all, of an address, or of a tick. */
import { hasTransactionId, type ParameterOf, scriptIdOf } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import {
  fromLastExamined,
  MAX_EXAMINED,
  type PageParameters,
  pageParts,
  type PageStart,
  rowsOf,
} from '../../pages/key-page.ts';
import { MAX_LIMIT } from '../../pages/page-query.ts';

/** A page ends before its sources exceed this, unless it has one. */
const MAX_PAGE_BYTES = 2 ** 20;

export interface InscriptionParameters extends PageParameters {
  /**
   * With the cursor: the input, -1 for a payload, or a number beyond both for the whole
   * transaction.
   */
  input?: number | undefined;
  address?: string | undefined;
  protocol?: string | undefined;
  operation?: string | undefined;
  tick?: string | undefined;
}

export interface InscriptionFilter {
  byAddress: boolean;
  byTick: boolean;
  byProtocol: boolean;
  byOperation: boolean;
}

type Variant = InscriptionFilter & { start: PageStart };

/** The cursor of an inscription. */
const cursorText = (transaction: RawBuilder<unknown>, input: RawBuilder<unknown>): RawBuilder<string | null> => sql`(
  select encode(transaction_id, 'hex') || ':' || case when ${input} < 0 then 'payload'
    else ${input}::text end
  from transactions where id = ${transaction})`;

/** Any input of a transaction, and its payload, is a position. */
const cursor = (parameter: ParameterOf<InscriptionParameters>): RawBuilder<unknown> => sql`
  select transactions.id as key, ${parameter('input', 'integer')} as input
  from transactions
  where ${hasTransactionId('transactions', parameter('cursor', 'bytea'))} and (
    ${parameter('input', 'integer')} < 0 or ${parameter('input', 'integer')} = 32767 or exists (
      select from transaction_inputs
        where transaction_id = transactions.id and index = ${parameter('input', 'integer')}
          offset 0))`;

/**
 * Compares the kind `k`. Anybody can add spellings of a tick, so those that are not wanted are left
 * out by the index.
 */
function ofKind(
  parameter: ParameterOf<InscriptionParameters>,
  { byTick, byProtocol, byOperation }: InscriptionFilter,
): RawBuilder<unknown> {
  const tick = parameter('tick', 'text');
  return sql.join(
    [
      ...(byProtocol ? [sql`k.protocol = ${parameter('protocol', 'text')}`] : []),
      ...(byOperation ? [sql`k.operation = ${parameter('operation', 'text')}`] : []),
      ...(byTick
        ? [sql`lower(k.tick) = lower(${tick}) and k.tick in (${tick}, lower(${tick}), upper(${tick})) and k.tick <> ''`]
        : []),
    ],
    sql` and `,
  );
}

/**
 * Builds the parts of a statement: `page` with the columns of the inscriptions, one more than the
 * page has. Rows of a tick are read by kind, all others in the order of the listing, of which a
 * filter examines a bounded number.
 */
export function inscriptionPage(parameter: ParameterOf<InscriptionParameters>, { start, ...by }: Variant) {
  const limit = parameter('limit', 'bigint');
  const [behind, order] = start === 'before' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`];
  const inOrder = sql`i.transaction_id ${order}, i.input ${order}`;
  const position = sql`(select key from cursor), (select input from cursor)`;
  const fromCursor = start === 'first' ? sql`true` : sql`(i.transaction_id, i.input) ${behind} (${position})`;
  const isByKind = by.byTick && !by.byAddress;
  const isFiltered = !isByKind && (by.byProtocol || by.byOperation || by.byTick);
  // The columns of the index, so that no row is sorted that is not read.
  const readOrder = by.byAddress ? sql`i.owner_script_id ${order}, ${inOrder}` : inOrder;
  const ofAddress = sql`
    select i.* from inscriptions i
    where i.owner_script_id between (select id from script) and (select id from script)
      and ${fromCursor}
    order by ${readOrder}`;
  const ofAll = sql`select i.* from inscriptions i where ${fromCursor} order by ${readOrder}`;
  const ofTick = sql`
    select i.*
    from inscription_kinds k cross join lateral (
      select i.* from inscriptions i where i.kind_id between k.id and k.id and ${fromCursor}
      order by i.kind_id ${order}, ${inOrder} limit ${sql.lit(MAX_LIMIT + 1)}) i
    where ${ofKind(parameter, by)} order by ${readOrder}`;
  const examined = by.byAddress ? ofAddress : isByKind ? ofTick : ofAll;
  const isWanted = isFiltered
    ? sql`where exists (select from inscription_kinds k where k.id = i.kind_id and ${ofKind(parameter, by)})`
    : sql``;
  const matching = sql`
    select row(i.transaction_id, i.owner_script_id, i.kind_id, i.input)::inscriptions
    from (${examined} limit ${sql.lit(MAX_EXAMINED)}) i ${isWanted} order by ${readOrder}`;
  const lastExamined = sql`(
    select case when count(*) = 2
      then (array_agg(${cursorText(sql`last.transaction_id`, sql`last.input`)}
      order by last.transaction_id ${order}, last.input ${order}))[1] end
    from (${fromLastExamined(examined, 2)}) last)`;
  return {
    tables: {
      ...(by.byAddress && { script: sql`select ${scriptIdOf(parameter as ParameterOf<{ address: string }>)} as id` }),
      ...(start !== 'first' && { cursor: cursor(parameter) }),
      page: sql`
        select *, position <= ${limit}
          and (position = 1 or bytes_until <= ${sql.lit(MAX_PAGE_BYTES)}) as is_shown
        from (
          select keys.*, source.bytes,
            sum(coalesce(octet_length(source.bytes), 0)) over (order by keys.position)
              as bytes_until
          from unnest(${rowsOf(sql`${matching} limit ${limit} + 1`)}) with ordinality
            as keys (transaction_id, owner_script_id, kind_id, input, position)
          join transactions t on t.id = keys.transaction_id
          left join transaction_inputs spending on spending.transaction_id = keys.transaction_id
            and spending.index = keys.input and t.accepted_variant = 0
          cross join lateral (select case when keys.input < 0 then t.payload
            when t.accepted_variant = 0 then spending.signature_script
            else (variant_input(t.id, t.accepted_variant,
              keys.input)).signature_script end as bytes) source) summed`,
    },
    ...pageParts(limit, start, { isBounded: true, ...(isFiltered && { scannedTo: lastExamined }) }),
  };
}
