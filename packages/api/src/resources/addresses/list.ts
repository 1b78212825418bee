/** GET /v1/addresses: who holds most. */
import { type Database, listTagsOfScripts, type Tag } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { conflict } from '../../http/errors.ts';
import { respondByContent } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { pageMetadata, pageQuery, queryFlag } from '../../pages/page-query.ts';
import { readPage, type Slice } from '../../pages/read-page.ts';
import { travelOf } from '../../pages/travel.ts';
import { requireNetwork } from '../../schemas/address.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import { addressTag } from '../../schemas/tag.ts';
import { address, addressInput, sompi } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { findScriptId } from './find-script.ts';

/** More than any balance; less than the largest `bigint` of Postgres. */
const MAX_SOMPI = 10n ** 19n / 2n;

interface Cursor {
  address: string;
  /** With it the cursor names a position, whatever the address holds now. */
  balance: bigint | undefined;
}

/** An address has a colon of its own. */
const WITH_BALANCE = /^(?:(\d{1,19}):)?(.*)$/s;

const cursorInput = z
  .string()
  .transform((text, context): Cursor => {
    const [, digits, address = ''] = WITH_BALANCE.exec(text) ?? [];
    const problem = addressInput.safeParse(address).error?.issues[0]?.message;
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    const balance = digits === undefined ? undefined : BigInt(digits);
    if (balance !== undefined && balance > MAX_SOMPI) {
      context.addIssue({ code: 'custom', message: 'has a balance that is larger than the supply can be' });
    }
    return { address, balance };
  })
  .meta({
    format: 'kaspa-holder',
    description:
      '`balance:address` of an item: the page begins exactly behind it, whatever happens to that balance meanwhile. An `address` alone is at its present position',
  });

const query = pageQuery(cursorInput, {
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

/** @throws HttpError 409 for an address alone that holds nothing now: it has no position */
async function findPosition(db: Kysely<Database>, { address, balance }: Cursor): Promise<Position | undefined> {
  const scriptId = await findScriptId(db, address);
  if (scriptId === undefined) return undefined;
  if (balance !== undefined) return { script_id: scriptId, balance };
  const present = await db
    .selectFrom('balances')
    .select(['script_id', 'balance'])
    .where('script_id', '=', scriptId)
    .where('balance', '>', 0n)
    .executeTakeFirst();
  if (present !== undefined) return present;
  throw conflict(
    `${address} holds nothing now and has no position in this listing. Use balance:address, with the balance that the listing had shown`,
  );
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
  for (const path of ['starting_after', 'ending_before'] as const) {
    const cursor = request[path];
    if (cursor !== undefined) requireNetwork(state.network, cursor.address, path);
  }
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
      config: { cost: 0.5 },
      schema: {
        operationId: 'listAddresses',
        summary: 'Addresses that hold something, richest first',
        tags: ['Address'],
        querystring: query,
        response: answers(page, 304, ...UNDER_KEY, 400, 404, 409),
      },
    },
    (request, reply) => respondByContent(index, request, reply, (reading) => getPage(reading, request.query)),
  );
};
