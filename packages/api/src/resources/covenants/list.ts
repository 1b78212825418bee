/** GET /v1/covenants, those of a template, and those that have UTXOs at an address. */
import { fromHex } from '@kasgres/kaspa';
import {
  addressInput,
  type AddressParameters,
  hashInput,
  type ParameterOf,
  requireCaughtUp,
  requireNetwork,
  scriptIdOf,
  statementsBy,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import {
  cursorOf,
  fromLastExamined,
  MAX_EXAMINED,
  type PageParameters,
  pageParts,
  pageProblems,
  type PageStart,
  keysInOrder,
  startOf,
} from '../../pages/key-page.ts';
import { pageQuery, queryFlag } from '../../pages/page-query.ts';
import { unknownTemplate } from '../programs/templates.ts';
import { listing, page } from '../shared.ts';
import { covenant } from './schemas.ts';
import { covenantsOfPage } from './select-covenants.ts';

const order = z.enum(['last_seen', 'created']);

/** The column of the index by which a listing is ordered. */
const TIMES = { last_seen: 'last_seen', created: 'first_seen' } as const;

interface Cursor {
  covenantId: Uint8Array;
  /** With a time, the cursor is a fixed position, even if the covenant has another event. */
  time: bigint | undefined;
}

const cursorInput = z
  .string()
  .regex(
    /^(?:\d{1,15}:)?(?:0x)?[0-9a-fA-F]{64}$/,
    'must be a covenant id, with or without a time and a colon before it',
  )
  .transform((text): Cursor => {
    const [, digits] = /^(\d+):/.exec(text) ?? [];
    return { covenantId: fromHex(text.slice(-64)), time: digits === undefined ? undefined : BigInt(digits) };
  })
  .meta({
    description:
      '`lastSeen:covenantId` of an item: the page begins right after it, even if the covenant has another event meanwhile. A plain `covenantId` denotes its current position',
  });

interface Parameters extends Omit<PageParameters, 'cursor'>, Partial<Cursor> {
  template?: Uint8Array | undefined;
}

interface Variant {
  start: PageStart;
  order: z.infer<typeof order>;
  /** Whether there is a template; one in the path must exist. */
  template: 'any' | 'filter' | 'path';
  liveOnly: boolean;
  completeOnly: boolean;
}

const UNKNOWN_TEMPLATE = 'unknown template';

/**
 * Reads a range of the index of the order. That of a template has its own for the order of the last
 * event.
 */
const covenantPage = statementsBy(
  'covenants',
  (parameter: ParameterOf<Parameters>, { start, order, template: choice, liveOnly, completeOnly }: Variant) => {
    const limit = parameter('limit', 'bigint');
    const ofTemplate = choice !== 'any';
    const template = sql`(select id from template)`;
    const time = sql.ref(TIMES[order]);
    const [behind, within, direction] = start === 'before' ? [sql`>`, sql`<=`, sql`asc`] : [sql`<`, sql`>=`, sql`desc`];
    // With an equality of the template, another index would have this order.
    const byTemplate = ofTemplate && order === 'last_seen';
    const keys = [...(byTemplate ? [sql`template_id`] : []), time, sql`covenant_id`];
    const position = [
      ...(byTemplate ? [template] : []),
      sql`(select time from cursor)`,
      sql`(select covenant_id from cursor)`,
    ];
    const conditions = [
      ...(start === 'first' ? [] : [sql`(${sql.join(keys)}) ${behind} (${sql.join(position)})`]),
      ...(byTemplate ? [sql`template_id ${within} ${template}`] : []),
      ...(byTemplate && start === 'first' ? [sql`template_id <= ${template}`] : []),
    ];
    const filters = [
      ...(ofTemplate && !byTemplate ? [sql`template_id = ${template}`] : []),
      ...(liveOnly ? [sql`utxo_count > 0`] : []),
      ...(completeOnly ? [sql`is_complete`] : []),
    ];
    const orderBy = sql`order by ${sql.join(keys.map((key) => sql`${key} ${direction}`))}`;
    const rows = sql`
      select id, template_id, ${time}, utxo_count, is_complete, covenant_id from covenants
      ${conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`} ${orderBy}`;
    const wanted =
      filters.length === 0
        ? sql`select id from (${rows} limit ${limit} + 1) covenants`
        : sql`
          select id from (${rows} limit ${sql.lit(MAX_EXAMINED)}) covenants
          where ${sql.join(filters, sql` and `)} ${orderBy} limit ${limit} + 1`;
    const cursorOfLast = sql`(
      select case when count(*) = 2 then (array_agg(
        ${time} || ':' || encode(covenant_id, 'hex') order by ${time} ${direction}, covenant_id ${direction}))[1] end
      from (${fromLastExamined(rows, 2)}) last)`;
    const { items, metadata, problem } = pageParts(
      limit,
      start,
      filters.length === 0 ? {} : { scannedTo: cursorOfLast },
    );
    const given = order === 'created' ? sql`first_seen` : sql`coalesce(${parameter('time', 'bigint')}, last_seen)`;
    return {
      tables: {
        ...(ofTemplate && {
          template: sql`select id from program_templates where template = ${parameter('template', 'bytea')}`,
        }),
        ...(start !== 'first' && {
          cursor: sql`
            select id as key, ${given} as time, covenant_id from covenants
            where covenant_id = ${parameter('covenantId', 'bytea')}`,
        }),
        page: keysInOrder(wanted),
      },
      ...(choice === 'path'
        ? {
            problem: sql<string | null>`
              case when ${template} is null then ${sql.lit(UNKNOWN_TEMPLATE)}
                else ${problem ?? sql`null`} end`,
          }
        : problem !== undefined && { problem }),
      body: jsonBuildObject({ covenants: covenantsOfPage(items), metadata }),
    };
  },
  ({ template, order, liveOnly, completeOnly }) => ({
    itemsOf: liveOnly || completeOnly || (template !== 'any' && order === 'created') ? undefined : ({ limit }) => limit,
  }),
);

const filters = {
  order: order.default('last_seen').meta({
    description:
      '`last_seen`: latest event first; `created`: latest genesis first, where the time in a cursor is not needed',
  }),
  live_only: queryFlag.meta({ description: 'Only covenants with UTXOs' }),
  complete_only: queryFlag.meta({ description: 'Only covenants whose events are all counted' }),
};

const covenantsOfPageOrder = z.array(covenant).meta({ description: 'Latest first' });

const read = (
  query: { limit: number; starting_after?: Cursor | undefined; ending_before?: Cursor | undefined } & {
    order: z.infer<typeof order>;
    live_only: boolean;
    complete_only: boolean;
  },
  choice: Variant['template'],
  template: Uint8Array | undefined,
) =>
  covenantPage({
    start: startOf(query),
    order: query.order,
    template: choice,
    liveOnly: query.live_only,
    completeOnly: query.complete_only,
  }).with({ limit: query.limit, template, ...cursorOf(query) });

export const listCovenants = statementRoute(
  {
    ...listing('Covenant', '/v1/covenants', 'listCovenants'),
    summary: 'Covenants, latest event first',
    query: pageQuery(cursorInput, {
      ...filters,
      template: hashInput.optional().meta({ description: 'Only covenants whose last known program has this template' }),
    }),
    response: page({ covenants: covenantsOfPageOrder }),
  },
  ({ query }, settled) => {
    requireCaughtUp(settled);
    return read(query, query.template === undefined ? 'any' : 'filter', query.template);
  },
  pageProblems,
);

export const listTemplateCovenants = statementRoute(
  {
    ...listing('Program', '/v1/templates/:hash/covenants', 'listTemplateCovenants'),
    summary: 'Covenants whose last known program has a template, latest event first',
    params: z.strictObject({ hash: hashInput }),
    query: pageQuery(cursorInput, filters),
    response: page({ covenants: covenantsOfPageOrder }),
  },
  ({ params: { hash }, query }, settled) => {
    requireCaughtUp(settled);
    return read(query, 'path', hash);
  },
  { ...pageProblems, [UNKNOWN_TEMPLATE]: unknownTemplate },
);

/**
 * Jumps from covenant to covenant in the index utxos_script_id_covenant_id, since an address may
 * hold any number of UTXOs of one. An equality of the script would be met by other indexes, too.
 */
const heldPage = statementsBy(
  'covenants of an address',
  (parameter: ParameterOf<Omit<Parameters, 'template'> & AddressParameters>, { start }: Pick<Variant, 'start'>) => {
    const limit = parameter('limit', 'bigint');
    const script = sql`(select id from script)`;
    const [behind, within, direction] = start === 'before' ? [sql`<`, sql`>=`, sql`desc`] : [sql`>`, sql`<=`, sql`asc`];
    const next = (covenant: RawBuilder<unknown> | undefined): RawBuilder<unknown> => sql`
      select utxos.covenant_id from utxos
      where ${
        covenant === undefined
          ? sql`utxos.script_id >= ${script}`
          : sql`(utxos.script_id, utxos.covenant_id) ${behind} (${script}, ${covenant})`
      } and utxos.script_id ${within} ${script} and utxos.covenant_id is not null
      order by utxos.script_id ${direction}, utxos.covenant_id ${direction} limit 1`;
    const { items, metadata, ...parts } = pageParts(limit, start);
    return {
      ...parts,
      tables: {
        script: sql`select ${scriptIdOf(parameter)} as id`,
        ...(start !== 'first' && {
          cursor: sql`select id as key, covenant_id from covenants
            where covenant_id = ${parameter('covenantId', 'bytea')}`,
        }),
        page: sql`
          select covenants.id as key, keys.position
          from unnest(array(
            with recursive held as (
              (${next(start === 'first' ? undefined : sql`(select covenant_id from cursor)`)})
              union all
              select (${next(sql`held.covenant_id`)}) from held where held.covenant_id is not null
            )
            select covenant_id from held where covenant_id is not null limit ${limit} + 1))
            with ordinality as keys (covenant_id, position)
          join covenants on covenants.covenant_id = keys.covenant_id`,
      },
      body: jsonBuildObject({ covenants: covenantsOfPage(items), metadata }),
    };
  },
);

export const listAddressCovenants = statementRoute(
  {
    ...listing('Covenant', '/v1/addresses/:address/covenants', 'listAddressCovenants'),
    summary: 'Covenants that have UTXOs at an address, by id',
    params: z.strictObject({ address: addressInput }),
    query: pageQuery(cursorInput, {}),
    response: page({ covenants: z.array(covenant).meta({ description: 'Ascending by id' }) }),
  },
  ({ params: { address }, query }, settled) => {
    requireNetwork(settled.network, address, 'address');
    requireCaughtUp(settled);
    return heldPage({ start: startOf(query) }).with({ address, limit: query.limit, ...cursorOf(query) });
  },
  pageProblems,
);
