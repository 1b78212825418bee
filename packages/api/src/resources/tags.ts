/** GET /v1/tags: tags of addresses by name. */
import type { Tag } from '@kasgres/database';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../index-state/sql.ts';
import { pageQuery } from '../pages/page-query.ts';
import { directionOf, readPage, type Slice } from '../pages/read-page.ts';
import { indexRoute } from '../route.ts';
import { addressTag, requireNetworkOfCursor } from '../schemas/address.ts';
import { addressInput } from '../schemas/values.ts';
import { listing, page } from './shared.ts';

/** Text in Postgres cannot contain the character 0. */
const labelInput = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'must not contain the character 0')
  .meta({ description: 'Only tags with this label' });

/** Reads a range of the index tags_name, or of the primary key of tag_labels. Statements must name their collation. */
async function listPage(
  db: Db,
  slice: Slice<Pick<Tag, 'name' | 'address'>>,
  label: string | undefined,
): Promise<Tag[]> {
  const { from, limit } = slice;
  const { behind, order } = directionOf(slice, 'asc');
  const [source, name, address] =
    label === undefined
      ? [sql`tags t where true`, sql`t.name collate "C"`, sql`t.address collate "C"`]
      : [
          sql`tag_labels l join tags t on t.address = l.address collate "default" where l.label = ${label}`,
          sql`l.name`,
          sql`l.address`,
        ];
  const { rows } = await sql<Tag>`
    select t.address, t.name, t.link, t.labels
    from ${source} ${from ? sql`and (${name}, ${address}) ${behind} (${from.name}, ${from.address})` : sql``}
    order by ${name} ${order}, ${address} ${order}
    limit ${limit}`.execute(db);
  return rows;
}

export const listTags = indexRoute(
  {
    ...listing('Address', '/v1/tags', 'listTags'),
    summary: 'Tags of addresses, by name',
    tagOf: 'content',
    query: pageQuery(addressInput, { label: labelInput.optional() }),
    response: page({ tags: z.array(addressTag).meta({ description: 'By name, then by address, in byte order' }) }),
  },
  async ({ db, state }, { query }) => {
    requireNetworkOfCursor(state.network, query);
    const { rows, metadata } = await readPage(query, {
      findPosition: (cursor) =>
        db.selectFrom('tags').select(['name', 'address']).where('address', '=', cursor).executeTakeFirst(),
      list: (slice) => listPage(db, slice, query.label),
    });
    return { tags: rows, metadata };
  },
);
