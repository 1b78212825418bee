/** GET /v1/addresses: addresses by balance. */
import { listTagsOfScripts } from '@kasgres/database';
import { sql } from 'kysely';
import { z } from 'zod';
import { conflict } from '../../http/errors.ts';
import { type Db, findScriptId } from '../../index-state/sql.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { pageQuery, queryFlag } from '../../pages/page-query.ts';
import { directionOf, readPage, type Slice } from '../../pages/read-page.ts';
import { indexRoute } from '../../route.ts';
import { addressTag, requireNetwork } from '../../schemas/address.ts';
import { address, addressInput, sompi } from '../../schemas/values.ts';
import { listing, page } from '../shared.ts';

/** Above any balance, and below the largest `bigint` of Postgres. */
const MAX_SOMPI = 10n ** 19n / 2n;

interface Cursor {
  address: string;
  /** With a balance, the cursor is a fixed position, even if the balance of the address changes. */
  balance: bigint | undefined;
}

/** An address contains a colon, too. */
const WITH_BALANCE = /^(?:(\d{1,19}):)?(.*)$/s;

const cursorInput = z
  .string()
  .transform((text, context): Cursor => {
    const [, digits, address = ''] = WITH_BALANCE.exec(text) ?? [];
    const problem = addressInput.safeParse(address).error?.issues[0]?.message;
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    const balance = digits === undefined ? undefined : BigInt(digits);
    if (balance !== undefined && balance > MAX_SOMPI) {
      context.addIssue({ code: 'custom', message: 'has a balance above the maximum supply' });
    }
    return { address, balance };
  })
  .meta({
    format: 'kaspa-holder',
    description:
      '`balance:address` of an item: the page begins right after it, even if that balance changes meanwhile. A plain `address` denotes its current position',
  });

const restAddress = z
  .object({
    address,
    balance: sompi,
    tag: addressTag.nullable().meta({ description: 'Tag of the address, else of its cluster' }),
  })
  .meta({ id: 'RestAddress' });

interface Position {
  script_id: bigint;
  balance: bigint;
}

/** @throws HttpError 409 for a plain address without a balance, which has no position */
async function findPosition(db: Db, { address, balance }: Cursor): Promise<Position | undefined> {
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
    `${address} has no balance now, and so no position in this listing: use balance:address with the balance that the listing showed`,
  );
}

/** The conditions match the indexes balances_balance and balances_tagged. Few scripts without an address, which are skipped, have a large balance. */
async function listHolders(db: Db, slice: Slice<Position>, taggedOnly: boolean) {
  const { from, limit } = slice;
  const { behind, order } = directionOf(slice, 'desc');
  const { rows } = await sql<{ script_id: bigint; address: string; balance: string }>`
    select b.script_id, s.address, b.balance::text as balance
    from balances b join scripts s on s.id = b.script_id
    where b.balance > 0 and s.address is not null
      ${taggedOnly ? sql`and b.is_tagged` : sql``}
      ${from ? sql`and (b.balance, b.script_id) ${behind} (${from.balance}, ${from.script_id})` : sql``}
    order by b.balance ${order}, b.script_id ${order}
    limit ${limit}`.execute(db);
  return rows;
}

export const listAddresses = indexRoute(
  {
    ...listing('Address', '/v1/addresses', 'listAddresses'),
    summary: 'Addresses by balance, largest first',
    tagOf: 'content',
    query: pageQuery(cursorInput, {
      tagged_only: queryFlag.meta({ description: 'Only addresses with a tag, or in a cluster with a tag' }),
    }),
    response: page({
      addresses: z.array(restAddress).meta({ description: 'Addresses with a balance, largest first' }),
    }),
    errors: [404, 409],
  },
  async ({ db, state }, { query }) => {
    for (const path of ['starting_after', 'ending_before'] as const) {
      const cursor = query[path];
      if (cursor !== undefined) requireNetwork(state.network, cursor.address, path);
    }
    requireCaughtUp(state);
    const { rows, metadata } = await readPage(query, {
      findPosition: (cursor) => findPosition(db, cursor),
      list: (slice) => listHolders(db, slice, query.tagged_only),
    });
    const scriptIds = rows.map((row) => row.script_id);
    const tags = await listTagsOfScripts(db, scriptIds);
    return { addresses: rows.map(({ script_id, ...row }) => ({ ...row, tag: tags.get(script_id) ?? null })), metadata };
  },
);
