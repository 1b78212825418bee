/** GET /v1/addresses: who holds most. */
import { type Database, listTagsOfScripts, type Tag } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { answerByContent } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { pageMetadata, pageQuery, queryFlag } from '../../pages/page-query.ts';
import { readPage, type Slice } from '../../pages/read-page.ts';
import { travelOf } from '../../pages/travel.ts';
import { requireNetworkOfCursor } from '../../schemas/address.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import { addressTag } from '../../schemas/tag.ts';
import { address, addressInput, sompi } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { findScriptId } from './find-script.ts';

const query = pageQuery(addressInput, {
  tagged_only: queryFlag.meta({ description: 'Only addresses with a tag, their own or that of their cluster' }),
});

const restAddress = z
  .object({
    address,
    balance: sompi,
    tag: addressTag.nullable().meta({ description: 'Its own, else that of its cluster' }),
  })
  .meta({ id: 'RestAddress' });

type RestAddressJson = z.infer<typeof restAddress>;

const page = z.object({
  addresses: z.array(restAddress).meta({ description: 'Those that hold something, richest first' }),
  metadata: pageMetadata,
});

interface Holder {
  script_id: bigint;
  address: string;
  balance: bigint;
}

type Position = Pick<Holder, 'script_id' | 'balance'>;

/** Where an address stands, whether or not it holds something now; undefined for one that was never seen. */
async function findPosition(db: Kysely<Database>, cursor: string): Promise<Position | undefined> {
  const scriptId = await findScriptId(db, cursor);
  if (scriptId === undefined) return undefined;
  return await db
    .selectFrom('balances')
    .select(['script_id', 'balance'])
    .where('script_id', '=', scriptId)
    .executeTakeFirst();
}

/**
 * The conditions are those of the indexes balances_balance and balances_tagged, which have the order of the listing. Scripts without an
 * address are passed over on the way, a look-up for each: never many, since each holds as much as those that it stands between.
 */
async function listHolders(db: Kysely<Database>, slice: Slice<Position>, taggedOnly: boolean): Promise<Holder[]> {
  const { from, limit } = slice;
  const { behind, direction } = travelOf(slice, 'desc');
  const { rows } = await sql<Holder>`
    select b.script_id, s.address, b.balance
    from balances b join scripts s on s.id = b.script_id
    where b.balance > 0 and s.address is not null
      ${taggedOnly ? sql`and b.is_tagged` : sql``}
      ${from ? sql`and (b.balance, b.script_id) ${behind} (${from.balance}, ${from.script_id})` : sql``}
    order by b.balance ${direction}, b.script_id ${direction}
    limit ${limit}`.execute(db);
  return rows;
}

function toRestAddress(holder: Holder, tag: Tag | undefined): RestAddressJson {
  return { address: holder.address, balance: String(holder.balance), tag: tag ?? null };
}

async function getPage({ db, state }: Reading, request: z.infer<typeof query>): Promise<z.infer<typeof page>> {
  requireNetworkOfCursor(state.network, request);
  requireCaughtUp(state);
  const { rows, metadata } = await readPage(request, {
    findPosition: (cursor) => findPosition(db, cursor),
    list: (slice) => listHolders(db, slice, request.tagged_only),
  });
  const tags = await listTagsOfScripts(
    db,
    rows.map((row) => row.script_id),
  );
  return { addresses: rows.map((row) => toRestAddress(row, tags.get(row.script_id))), metadata };
}

export const listAddressesRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/addresses',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'listAddresses',
        summary: 'Addresses that hold something, richest first',
        tags: ['Address'],
        querystring: query,
        response: answers(page, 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) => answerByContent(index, request, reply, (reading) => getPage(reading, request.query)),
  );
};
