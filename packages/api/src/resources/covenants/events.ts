/** Events of one covenant, and of all covenants, newest first. */
import { fromHex } from '@kasgres/kaspa';
import {
  conflict,
  hashInput,
  hasTransactionId,
  type ParameterOf,
  requireCaughtUp,
  statementsBy,
  unknownItem,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { cursorOf, type PageParameters, pageProblems, type PageStart, startOf } from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { listing, page } from '../shared.ts';
import { covenantEvent } from './schemas.ts';
import { eventParts, eventsOfPage, eventTables } from './select-events.ts';

const NOT_ACCEPTED = 'not accepted';

/**
 * Tests whether a cursor that is no item names a transaction that is not accepted, or no longer.
 */
const isNotAccepted = (id: RawBuilder<unknown>): RawBuilder<boolean> => sql`exists (
  select from transactions where ${hasTransactionId('transactions', id)}
    and accepting_index is null)`;

/** @param problem of the page, if it has a cursor */
const problemOf = (problem: RawBuilder<string | null> | undefined, id: RawBuilder<unknown>) =>
  problem === undefined
    ? sql<string | null>`null`
    : sql<string | null>`
      case when ${problem} is not null and ${isNotAccepted(id)} then ${sql.lit(NOT_ACCEPTED)}
        else ${problem} end`;

const problems = {
  ...pageProblems,
  [NOT_ACCEPTED]: () =>
    conflict('The transaction of the cursor is not accepted, or no longer: start again at the first page'),
};

const transactionKey = (id: RawBuilder<unknown>): RawBuilder<bigint | null> => sql`(
  select id from transactions where ${hasTransactionId('transactions', id)})`;

/**
 * Leaves out what a transaction did before a gap if it was accepted again after it, so that a
 * cursor names one event.
 */
const isLatestAcceptance = sql`(
  not exists (select from gaps) or chain_index = (
    select accepting_index from transactions where id = covenant_events.transaction_id))`;

type CovenantParameters = PageParameters & { covenantId: Uint8Array };

/**
 * Reads a range of the index covenant_events_covenant_id. An equality of the covenant would be met
 * by other indexes, too.
 */
const covenantEventPage = statementsBy(
  'events of a covenant',
  (parameter: ParameterOf<CovenantParameters>, { start }: { start: PageStart }) => {
    const limit = parameter('limit', 'bigint');
    const id = parameter('cursor', 'bytea');
    const covenant = sql`(select id from covenant)`;
    const [behind, within, order] = start === 'before' ? [sql`>`, sql`<=`, sql`asc`] : [sql`<`, sql`>=`, sql`desc`];
    const from =
      start === 'first'
        ? sql`covenant_id <= ${covenant}`
        : sql`(covenant_id, chain_index, position) ${behind} (
          ${covenant}, (select key from cursor), (select position from cursor))`;
    const { items, metadata, problem } = eventParts(limit, start);
    return {
      problem: sql<string | null>`
        case when not exists (select from covenant) then 'unknown'
          else ${problemOf(problem, id)} end`,
      tables: {
        covenant: sql`select id from covenants where covenant_id = ${parameter('covenantId', 'bytea')}`,
        ...(start !== 'first' && {
          cursor: sql`
            select chain_index as key, position from covenant_events
            where transaction_id = ${transactionKey(id)} and covenant_id = ${covenant}
              and ${isLatestAcceptance} limit 1`,
        }),
        ...eventTables(
          sql`
            select covenant_events from covenant_events
              where ${from} and covenant_id ${within} ${covenant} and ${isLatestAcceptance}
            order by covenant_id ${order}, chain_index ${order}, position ${order}
              limit ${limit} + 1`,
          limit,
        ),
      },
      body: jsonBuildObject({ events: eventsOfPage(items), metadata }),
    };
  },
  () => ({ itemsOf: ({ limit }) => limit }),
);

const description =
  'A cursor is the transaction id of an event. It is a 409 if a reorg has undone the acceptance of that transaction.';

export const listCovenantEvents = statementRoute(
  {
    ...listing('Covenant', '/v1/covenants/:covenantId/events', 'listCovenantEvents'),
    summary: 'Events of a covenant, newest first',
    description,
    params: z.strictObject({ covenantId: hashInput }),
    query: pageQuery(hashInput, {}),
    response: page({ events: z.array(covenantEvent).meta({ description: 'Latest acceptance first' }) }),
    errors: [404, 409],
  },
  ({ params: { covenantId }, query }, settled) => {
    requireCaughtUp(settled);
    return covenantEventPage({ start: startOf(query) }).with({
      covenantId,
      limit: query.limit,
      cursor: cursorOf(query),
    });
  },
  { ...problems, unknown: (state) => unknownItem(state, 'covenant') },
);

interface Cursor {
  transactionId: Uint8Array;
  covenantId: Uint8Array | undefined;
}

const cursorInput = z
  .string()
  .regex(
    /^(?:0x)?[0-9a-fA-F]{64}(?::(?:0x)?[0-9a-fA-F]{64})?$/,
    'must be a transaction id, with or without a colon and a covenant id behind it',
  )
  .transform((text): Cursor => {
    const [id = '', covenantId] = text.split(':');
    return {
      transactionId: fromHex(id.slice(-64)),
      covenantId: covenantId === undefined ? undefined : fromHex(covenantId.slice(-64)),
    };
  })
  .meta({
    description:
      'A transaction id means all its events. With a colon and a covenant id, as in `scannedTo`, it means one of them',
  });

/** Before and behind every covenant id. */
const LEAST_ID = sql`''::bytea`;
const GREATEST_ID = sql`decode(repeat('ff', 33), 'hex')`;

/**
 * Reads a range of the index covenant_events_chain_index, and sorts the events of each transaction
 * by covenant ids, since keys of covenants differ from index to index.
 */
const newestEventPage = statementsBy(
  'events of covenants',
  (parameter: ParameterOf<Omit<PageParameters, 'cursor'> & Partial<Cursor>>, { start }: { start: PageStart }) => {
    const limit = parameter('limit', 'bigint');
    const id = parameter('transactionId', 'bytea');
    const covenantId = parameter('covenantId', 'bytea');
    const [behind, order, whole] = start === 'before' ? [sql`>`, sql`asc`, GREATEST_ID] : [sql`<`, sql`desc`, LEAST_ID];
    const transaction = sql`(select key from cursor), (select position from cursor)`;
    const from =
      start === 'first'
        ? sql``
        : sql`and (chain_index, position) ${behind}= (${transaction})
          and (chain_index, position, covenant.id) ${behind} (
            ${transaction}, coalesce(${covenantId}, ${whole}))`;
    const { items, metadata, problem } = eventParts(limit, start);
    return {
      problem: problemOf(problem, id),
      tables: {
        ...(start !== 'first' && {
          cursor: sql`
            select chain_index as key, position from covenant_events
            where transaction_id = ${transactionKey(id)} and ${isLatestAcceptance} and (
              ${covenantId} is null or covenant_id = (select id from covenants where covenant_id = ${covenantId}))
            limit 1`,
        }),
        ...eventTables(
          sql`
            select covenant_events
            from covenant_events
            cross join lateral (
              select covenants.covenant_id as id from covenants
                where covenants.id = covenant_events.covenant_id offset 0) covenant
            where ${isLatestAcceptance} ${from}
            order by chain_index ${order}, position ${order}, covenant.id ${order}
              limit ${limit} + 1`,
          limit,
        ),
      },
      body: jsonBuildObject({ events: eventsOfPage(items), metadata }),
    };
  },
  () => ({ itemsOf: ({ limit }) => limit }),
);

export const listNewestCovenantEvents = statementRoute(
  {
    ...listing('Covenant', '/v1/covenant-events', 'listNewestCovenantEvents'),
    summary: 'Events of all covenants, newest first',
    description: `${description} Events of one transaction are in the order of their covenant ids, greatest first. A page ends behind a whole transaction, so that it may have fewer events than \`limit\`. If one transaction has more events than that, \`metadata.scannedTo\` is the cursor to continue with.`,
    query: pageQuery(cursorInput, {}),
    response: page({ events: z.array(covenantEvent).meta({ description: 'Latest acceptance first' }) }),
    errors: [404, 409],
  },
  ({ query }, settled) => {
    requireCaughtUp(settled);
    return newestEventPage({ start: startOf(query) }).with({ limit: query.limit, ...cursorOf(query) });
  },
  problems,
);
