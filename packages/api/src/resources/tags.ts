/** GET /v1/tags: whose addresses are known. */
import type { Database, Tag } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { respondByContent } from '../index-state/answer.ts';
import type { Reading } from '../index-state/state.ts';
import { pageMetadata, pageQuery } from '../pages/page-query.ts';
import { readPage, type Slice } from '../pages/read-page.ts';
import { travelOf } from '../pages/travel.ts';
import { requireNetworkOfCursor } from '../schemas/address.ts';
import { answers, UNDER_KEY } from '../schemas/responses.ts';
import { addressTag } from '../schemas/tag.ts';
import { addressInput } from '../schemas/values.ts';
import type { ApiPlugin } from '../services.ts';

/** No text in Postgres has a character 0. */
const labelInput = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'must not contain the character 0')
  .meta({ description: 'Only tags with this label' });

const query = pageQuery(addressInput, { label: labelInput.optional() });

const page = z.object({
  tags: z.array(addressTag).meta({ description: 'By name, then by address, in the order of their bytes' }),
  metadata: pageMetadata,
});

type Position = Pick<Tag, 'name' | 'address'>;

async function findPosition(db: Kysely<Database>, cursor: string): Promise<Position | undefined> {
  return await db.selectFrom('tags').select(['name', 'address']).where('address', '=', cursor).executeTakeFirst();
}

/** A range of the index tags_name, whose collation the statement must name. */
async function listTags(db: Kysely<Database>, slice: Slice<Position>): Promise<Tag[]> {
  const { from, limit } = slice;
  const { behind, direction } = travelOf(slice, 'asc');
  const { rows } = await sql<Tag>`
    select address, name, link, labels from tags
    ${from ? sql`where (name collate "C", address collate "C") ${behind} (${from.name}, ${from.address})` : sql``}
    order by name collate "C" ${direction}, address collate "C" ${direction}
    limit ${limit}`.execute(db);
  return rows;
}

/** A range of the key of tag_labels, whose columns have the collation of the order. */
async function listTagsWithLabel(db: Kysely<Database>, slice: Slice<Position>, label: string): Promise<Tag[]> {
  const { from, limit } = slice;
  const { behind, direction } = travelOf(slice, 'asc');
  const { rows } = await sql<Tag>`
    select t.address, t.name, t.link, t.labels
    from tag_labels l join tags t on t.address = l.address collate "default"
    where l.label = ${label}
      ${from ? sql`and (l.name, l.address) ${behind} (${from.name}, ${from.address})` : sql``}
    order by l.name ${direction}, l.address ${direction}
    limit ${limit}`.execute(db);
  return rows;
}

async function getPage({ db, state }: Reading, request: z.infer<typeof query>): Promise<z.infer<typeof page>> {
  requireNetworkOfCursor(state.network, request);
  const { label } = request;
  const { rows, metadata } = await readPage(request, {
    findPosition: (cursor) => findPosition(db, cursor),
    list: (slice) => (label === undefined ? listTags(db, slice) : listTagsWithLabel(db, slice, label)),
  });
  return { tags: rows, metadata };
}

export const listTagsRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/tags',
    {
      config: { cost: 0.5 },
      schema: {
        operationId: 'listTags',
        summary: 'Tags of addresses, by name',
        tags: ['Address'],
        querystring: query,
        response: answers(page, 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) => respondByContent(index, request, reply, (reading) => getPage(reading, request.query)),
  );
};
