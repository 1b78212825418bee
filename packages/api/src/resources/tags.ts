/** GET /v1/tags: tags of addresses by name. */
import {
  addressInput,
  addressTag,
  type AddressTagJson,
  jsonArray,
  jsonObject,
  type ParameterOf,
  requireNetworkOfCursor,
  statementsBy,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../openapi/route.ts';
import {
  cursorOf,
  type PageParameters,
  pageParts,
  pageProblems,
  type PageStart,
  keysInOrder,
  startOf,
} from '../pages/key-page.ts';
import { pageQuery } from '../pages/page-query.ts';
import { listing, page } from './shared.ts';

/** Text in Postgres cannot contain the character 0. */
const textInput = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'must not contain the character 0');

interface TagPageParameters extends Omit<PageParameters, 'cursor'> {
  cursor?: string | undefined;
  label?: string | undefined;
  name?: string | undefined;
}

interface Variant {
  start: PageStart;
  byLabel: boolean;
  byName: boolean;
}

/**
 * Reads a range of the index tags_name, or of the primary key of tag_labels. Statements must name
 * their collation.
 */
const tagPage = statementsBy(
  'tags',
  (parameter: ParameterOf<TagPageParameters>, { start, byLabel, byName }: Variant) => {
    const limit = parameter('limit', 'bigint');
    const [behind, order] = start === 'before' ? [sql`<`, sql`desc`] : [sql`>`, sql`asc`];
    const source = byLabel ? sql`tag_labels where label = ${parameter('label', 'text')}` : sql`tags where true`;
    const [name, address] = [sql`name collate "C"`, sql`address collate "C"`];
    const named = byName ? sql`and ${name} = ${parameter('name', 'text')}` : sql``;
    const from =
      start === 'first'
        ? sql``
        : sql`and (${name}, ${address}) ${behind} ((select name from cursor), (select key from cursor))`;
    const { items, metadata, ...parts } = pageParts(limit, start);
    return {
      ...parts,
      tables: {
        ...(start !== 'first' && {
          cursor: sql`select name, address as key from tags where address = ${parameter('cursor', 'text')}`,
        }),
        page: keysInOrder(sql`
          select address from ${source} ${named} ${from}
            order by ${name} ${order}, ${address} ${order} limit ${limit} + 1`),
      },
      body: jsonBuildObject({
        tags: jsonArray(
          jsonObject<AddressTagJson>({
            address: sql`tags.address`,
            name: sql`tags.name`,
            link: sql`tags.link`,
            labels: sql`tags.labels`,
          }),
          sql`from page join tags on tags.address = page.key collate "default" ${items}`,
        ),
        metadata,
      }),
    };
  },
);

export const listTags = statementRoute(
  {
    ...listing('Address', '/v1/tags', 'listTags'),
    summary: 'Tags of addresses, by name',
    tagOf: 'content',
    query: pageQuery(addressInput, {
      label: textInput.optional().meta({ description: 'Only tags with this label' }),
      name: textInput.optional().meta({ description: 'Only tags with exactly this name' }),
    }),
    response: page({ tags: z.array(addressTag).meta({ description: 'By name, then by address, in byte order' }) }),
  },
  ({ query }, settled) => {
    requireNetworkOfCursor(settled.network, query);
    const { limit, label, name } = query;
    return tagPage({ start: startOf(query), byLabel: label !== undefined, byName: name !== undefined }).with({
      limit,
      label,
      name,
      cursor: cursorOf(query),
    });
  },
  pageProblems,
);
