/** GET /v1/tags: tags of addresses by name. */
import type { Tag } from '@kasgres/database';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../index-state/sql.ts';
import type { Reading } from '../index-state/state.ts';
import { pageMetadata, pageQuery } from '../pages/page-query.ts';
import { directionOf, readPage, type Slice } from '../pages/read-page.ts';
import { indexRoute } from '../route.ts';
import { addressTag, requireNetworkOfCursor } from '../schemas/address.ts';
import { addressInput } from '../schemas/values.ts';

/** Text in Postgres cannot contain the character 0. */
const labelInput = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'must not contain the character 0')
  .meta({ description: 'Only tags with this label' });

const query = pageQuery(addressInput, { label: labelInput.optional() });

const page = z.object({
  tags: z.array(addressTag).meta({ description: 'By name, then by address, in byte order' }),
  metadata: pageMetadata,
});

type Position = Pick<Tag, 'name' | 'address'>;

async function findPosition(db: Db, cursor: string): Promise<Position | undefined> {
  return await db.selectFrom('tags').select(['name', 'address']).where('address', '=', cursor).executeTakeFirst();
}

/** Reads a range of the index tags_name, whose collation the statement must name. */
async function listAllTags(db: Db, slice: Slice<Position>): Promise<Tag[]> {
  const { from, limit } = slice;
  const { behind, order } = directionOf(slice, 'asc');
  const { rows } = await sql<Tag>`
    select address, name, link, labels from tags
    ${from ? sql`where (name collate "C", address collate "C") ${behind} (${from.name}, ${from.address})` : sql``}
    order by name collate "C" ${order}, address collate "C" ${order}
    limit ${limit}`.execute(db);
  return rows;
}

/** Reads a range of the primary key of tag_labels, whose columns have the collation of the order. */
async function listTagsWithLabel(db: Db, slice: Slice<Position>, label: string): Promise<Tag[]> {
  const { from, limit } = slice;
  const { behind, order } = directionOf(slice, 'asc');
  const { rows } = await sql<Tag>`
    select t.address, t.name, t.link, t.labels
    from tag_labels l join tags t on t.address = l.address collate "default"
    where l.label = ${label}
      ${from ? sql`and (l.name, l.address) ${behind} (${from.name}, ${from.address})` : sql``}
    order by l.name ${order}, l.address ${order}
    limit ${limit}`.execute(db);
  return rows;
}

async function getPage({ db, state }: Reading, request: z.infer<typeof query>): Promise<z.infer<typeof page>> {
  requireNetworkOfCursor(state.network, request);
  const { label } = request;
  const { rows, metadata } = await readPage(request, {
    findPosition: (cursor) => findPosition(db, cursor),
    list: (slice) => (label === undefined ? listAllTags(db, slice) : listTagsWithLabel(db, slice, label)),
  });
  return { tags: rows, metadata };
}

export const listTags = indexRoute(
  {
    method: 'GET',
    url: '/v1/tags',
    operationId: 'listTags',
    summary: 'Tags of addresses, by name',
    tag: 'Address',
    cost: 0.5,
    tagOf: 'content',
    query,
    response: page,
    errors: [404],
  },
  (reading, { query }) => getPage(reading, query),
);
