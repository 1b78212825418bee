/** GET /v1/addresses: addresses by balance. */
import { MAX_SOMPI } from '@kasgres/kaspa';
import {
  address,
  addressInput,
  type AddressParameters,
  addressTag,
  conflict,
  jsonArray,
  jsonObject,
  type ParameterOf,
  requireCaughtUp,
  requireNetwork,
  scriptIdOf,
  sompi,
  statementsBy,
  text,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import {
  cursorOf,
  type PageParameters,
  pageParts,
  pageProblems,
  type PageStart,
  keysInOrder,
  startOf,
} from '../../pages/key-page.ts';
import { pageQuery, queryFlag } from '../../pages/page-query.ts';
import { statementRoute } from '../../openapi/route.ts';
import { listing, page } from '../shared.ts';
import { tagOfScript } from './tags.ts';
import { includeTags, tagsByAddress, tagsOfScripts } from '../transactions/rest/tags.ts';

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

type HolderPageParameters = Omit<PageParameters, 'cursor'> &
  Partial<AddressParameters> & { balance?: bigint | undefined };

const NO_BALANCE = 'no balance';

const tag = tagOfScript(sql`scripts.address`, sql`scripts.id`);

interface Variant {
  start: PageStart;
  taggedOnly: boolean;
  withTags: boolean;
}

/**
 * The conditions match the indexes balances_balance and balances_tagged. Few scripts without an
 * address, which are skipped, have a large balance. A plain address without a balance has no
 * position.
 */
const holderPage = statementsBy(
  'addresses',
  (parameter: ParameterOf<HolderPageParameters>, { start, taggedOnly, withTags }: Variant) => {
    const limit = parameter('limit', 'bigint');
    const [behind, order] = start === 'before' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`];
    const from =
      start === 'first'
        ? sql``
        : sql`and (b.balance, b.script_id) ${behind} ((select balance from cursor), (select key from cursor))`;
    const { items, metadata, problem } = pageParts(limit, start);
    const hasNoBalance = sql`case when (select balance from cursor) is null then ${sql.lit(NO_BALANCE)} end`;
    return {
      ...(problem !== undefined && { problem: sql<string | null>`coalesce(${problem}, ${hasNoBalance})` }),
      tables: {
        ...(start !== 'first' && {
          cursor: sql`
            select id as key, coalesce(${parameter('balance', 'bigint')}, (
              select balance from balances where script_id = scripts.id and balance > 0)) as balance
            from scripts where id = ${scriptIdOf(parameter as ParameterOf<AddressParameters>)}`,
        }),
        page: keysInOrder(sql`
          select b.script_id from balances b join scripts s on s.id = b.script_id
          where b.balance > 0 and s.address is not null ${taggedOnly ? sql`and b.is_tagged` : sql``} ${from}
          order by b.balance ${order}, b.script_id ${order} limit ${limit} + 1`),
      },
      body: jsonBuildObject({
        addresses: jsonArray(
          jsonObject<z.infer<typeof restAddress>>({
            address: sql`scripts.address`,
            balance: text('balances.balance'),
            tag,
          }),
          sql`
            from page join balances on balances.script_id = page.key
              join scripts on scripts.id = page.key ${items}`,
        ),
        metadata,
        ...(withTags && { tags: tagsOfScripts(sql`select page.key as script_id from page ${items}`) }),
      }),
    };
  },
);

export const listAddresses = statementRoute(
  {
    ...listing('Address', '/v1/addresses', 'listAddresses'),
    summary: 'Addresses by balance, largest first',
    tagOf: 'content',
    query: pageQuery(cursorInput, {
      tagged_only: queryFlag.meta({ description: 'Only addresses with a tag, or in a cluster with a tag' }),
      include: includeTags,
    }),
    response: page({
      addresses: z.array(restAddress).meta({ description: 'Addresses with a balance, largest first' }),
      tags: tagsByAddress.optional(),
    }),
    errors: [404, 409],
  },
  ({ query }, settled) => {
    for (const path of ['starting_after', 'ending_before'] as const) {
      const cursor = query[path];
      if (cursor !== undefined) requireNetwork(settled.network, cursor.address, path);
    }
    requireCaughtUp(settled);
    const cursor = cursorOf(query);
    return holderPage({
      start: startOf(query),
      taggedOnly: query.tagged_only,
      withTags: query.include !== undefined,
    }).with({
      limit: query.limit,
      balance: cursor?.balance,
      ...(cursor && { address: cursor.address }),
    });
  },
  {
    ...pageProblems,
    [NO_BALANCE]: (_state, { query }) =>
      conflict(
        `${cursorOf(query)?.address} has no balance now, and so no position in this listing: use balance:address with the balance that the listing showed`,
      ),
  },
);
