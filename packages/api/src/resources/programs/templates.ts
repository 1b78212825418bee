/** Templates: programs with the same opcodes, and the names that imported files give them. */
import { fromHex } from '@kasgres/kaspa';
import {
  hashInput,
  hex,
  jsonArray,
  type JsonFields,
  jsonObject,
  notFound,
  type ParameterOf,
  requireCaughtUp,
  Statement,
  statementsBy,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import {
  cursorOf,
  type PageParameters,
  pageParts,
  pageProblems,
  type PageStart,
  keysInOrder,
  startOf,
} from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { listing, lookUp, page } from '../shared.ts';
import {
  listedTemplate,
  type NamedTemplateJson,
  type TemplateCounts,
  templateDetails,
  type TemplateNameJson,
} from './schemas.ts';

const MAX_LISTED_NAMES = sql.lit(10);
const MAX_NAMES = sql.lit(100);

const counts: JsonFields<TemplateCounts> = {
  template: hex('program_templates.template'),
  programCount: sql`program_templates.program_count`,
  spendCount: sql`program_templates.spend_count`,
  covenantCount: sql`program_templates.covenant_count`,
  firstSeen: sql`program_templates.first_seen`,
};

const nameFields: JsonFields<TemplateNameJson> = {
  name: sql`named.entry ->> 'name'`,
  source: sql`named.entry ->> 'source'`,
  description: sql`named.entry ->> 'description'`,
  importedFrom: sql`source.name`,
};

const names = (limit: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  from template_names named join template_sources source on source.id = named.source_id
  where named.template = program_templates.template
  order by jsonb_array_length(coalesce(named.entry -> 'required', '[]')) desc,
    named.entry ->> 'name', source.name limit ${limit}`;

const listed = jsonObject<z.infer<typeof listedTemplate>>({
  ...counts,
  names: jsonArray(jsonObject<TemplateNameJson>(nameFields), names(MAX_LISTED_NAMES)),
});

const part = <T>(name: string, otherwise: string): RawBuilder<T> =>
  sql`coalesce(named.entry -> ${sql.lit(name)}, ${sql.lit(otherwise)}::jsonb)`;

const details = jsonObject<z.infer<typeof templateDetails>>({
  ...counts,
  names: jsonArray(
    jsonObject<NamedTemplateJson>({
      ...nameFields,
      pushes: part('pushes', '[]'),
      required: part('required', '[]'),
      state: part('state', 'null'),
      seen: part('seen', '[]'),
    }),
    names(MAX_NAMES),
  ),
});

interface Cursor {
  template: Uint8Array;
  /** With spends, the cursor is a fixed position, even if programs of the template are spent. */
  spends: bigint | undefined;
}

const cursorInput = z
  .string()
  .regex(/^(?:\d{1,15}:)?(?:0x)?[0-9a-fA-F]{64}$/, 'must be a template, with or without a number and a colon before it')
  .transform((text): Cursor => {
    const [, digits] = /^(\d+):/.exec(text) ?? [];
    return { template: fromHex(text.slice(-64)), spends: digits === undefined ? undefined : BigInt(digits) };
  })
  .meta({
    description:
      '`spendCount:template` of an item: the page begins right after it, even if that number grows meanwhile. A plain `template` denotes its current position',
  });

/** Reads a range of the index program_templates_spend_count. */
const templatePage = statementsBy(
  'templates',
  (parameter: ParameterOf<Omit<PageParameters, 'cursor'> & Partial<Cursor>>, { start }: { start: PageStart }) => {
    const limit = parameter('limit', 'bigint');
    const [behind, order] = start === 'before' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`];
    const from =
      start === 'first'
        ? sql``
        : sql`where (spend_count, template) ${behind} ((select spends from cursor), (select template from cursor))`;
    const { items, metadata, ...parts } = pageParts(limit, start);
    return {
      ...parts,
      tables: {
        ...(start !== 'first' && {
          cursor: sql`
            select id as key, coalesce(${parameter('spends', 'bigint')},
              spend_count) as spends, template
            from program_templates where template = ${parameter('template', 'bytea')}`,
        }),
        page: keysInOrder(sql`
          select id from program_templates ${from} order by spend_count ${order}, template ${order}
            limit ${limit} + 1`),
      },
      body: jsonBuildObject({
        templates: jsonArray(listed, sql`from page join program_templates on program_templates.id = page.key ${items}`),
        metadata,
      }),
    };
  },
);

export const listTemplates = statementRoute(
  {
    ...listing('Program', '/v1/templates', 'listTemplates'),
    summary: 'Templates of programs by spends, most first',
    tagOf: 'content',
    query: pageQuery(cursorInput, {}),
    response: page({ templates: z.array(listedTemplate).meta({ description: 'Most spends first' }) }),
  },
  ({ query }, settled) => {
    requireCaughtUp(settled);
    return templatePage({ start: startOf(query) }).with({ limit: query.limit, ...cursorOf(query) });
  },
  pageProblems,
);

const templateByHash = new Statement('template', (parameter: ParameterOf<{ hash: Uint8Array }>) => ({
  tables: { found: sql`select * from program_templates where template = ${parameter('hash', 'bytea')}` },
  problem: sql<string | null>`case when not exists (select from found) then 'unknown' end`,
  body: jsonBuildObject({
    template: sql<z.infer<typeof templateDetails>>`(select ${details} from found program_templates)`,
  }),
}));

export const unknownTemplate = () => notFound('Unknown template: no program with it was revealed');

export const getTemplate = statementRoute(
  {
    ...lookUp('Program', '/v1/templates/:hash', 'getTemplate'),
    summary: 'A template with the numbers of its programs, spends and covenants, and its names',
    tagOf: 'content',
    params: z.strictObject({ hash: hashInput }),
    response: z.object({ template: templateDetails }),
    errors: [404],
  },
  ({ params }, settled) => {
    requireCaughtUp(settled);
    return templateByHash.with(params);
  },
  { unknown: unknownTemplate },
);
