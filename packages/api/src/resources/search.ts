/** GET /v1/search: blocks, transactions, addresses and tags that a text may mean, best match first. */
import { ADDRESS_PREFIXES, AddressError, decodeAddress, fromHex, type Network } from '@kasgres/kaspa';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { jsonObject } from '../index-state/json.ts';
import { hasTransactionId, hex, text } from '../index-state/sql.ts';
import { requireCaughtUp } from '../index-state/state.ts';
import { type ParameterOf, Statement } from '../index-state/statement.ts';
import type { NodeCaller } from '../node-calls.ts';
import { queryNumber } from '../pages/page-query.ts';
import { statementRoute } from '../route.ts';
import { address, count, decimal, hash, sompi, timestamp } from '../schemas/values.ts';
import { tagOfScript } from './addresses/tags.ts';
import { transactionCountOf } from './addresses/transaction-count.ts';
import { lookUp, toStoredScore } from './shared.ts';
import { isAccepted } from './transactions/fields.ts';
import { containing, joinAccepting } from './transactions/rest/select-transactions.ts';

const MAX_LENGTH = 200;
const MAX_RESULTS = 20;
const DEFAULT_RESULTS = 10;
const MIN_PREFIX_DIGITS = 8;
const MIN_TAG_LENGTH = 2;
const HASH_DIGITS = 64;
/** Beyond every character of a text in byte order. */
const LAST_CHARACTER = '\u{10FFFF}';
const MEMPOOL_DEADLINE_MS = 500;

const blockResult = z.object({
  type: z.literal('block'),
  id: hash,
  label: z.null(),
  matched: z.enum(['hash', 'blueScore', 'daaScore']),
  blueScore: decimal,
  daaScore: decimal,
  timestamp,
  isChainBlock: z.boolean(),
  color: z.enum(['blue', 'red']).nullable(),
});

const transactionResult = z.object({
  type: z.literal('transaction'),
  id: hash,
  label: z.null(),
  blockTime: timestamp.nullable().meta({ description: 'Null if no indexed block contains it' }),
  isAccepted: z.boolean(),
  isPending: z.boolean().meta({ description: 'Whether it is in the mempool and in no indexed block' }),
});

const addressResult = z.object({
  type: z.literal('address'),
  id: address,
  label: z.string().nullable().meta({ description: 'Name of its tag' }),
  balance: sompi,
  transactionCount: count,
});

const tagResult = z.object({
  type: z.literal('tag'),
  id: z.string(),
  label: z.string(),
  labels: z.array(z.string()),
  address: address.meta({ description: 'The one with the largest balance' }),
  addressCount: count.meta({ description: 'Addresses with a tag of this name' }),
});

/** What a text may mean; undefined where it cannot. */
interface Meanings {
  hash?: Uint8Array | undefined;
  score?: bigint | undefined;
  prefix?: Uint8Array | undefined;
  prefixEnd?: Uint8Array | undefined;
  address?: string | undefined;
  tag?: string | undefined;
  tagEnd?: string | undefined;
}

interface Parameters extends Meanings {
  isPending: boolean;
  limit: number;
}

type Result = z.infer<typeof blockResult | typeof transactionResult | typeof addressResult | typeof tagResult>;

const block = (matched: z.infer<typeof blockResult>['matched']) =>
  jsonObject<z.infer<typeof blockResult>>({
    type: sql`'block'::text`,
    id: hex('block.hash'),
    label: sql`null`,
    matched: sql`${sql.lit(matched)}::text`,
    blueScore: text('block.blue_score'),
    daaScore: text('block.daa_score'),
    timestamp: sql`block.timestamp`,
    isChainBlock: sql`block.is_chain_block`,
    color: sql`case when block.is_blue then 'blue' when not block.is_blue then 'red' end`,
  });

const byScore = (
  parameter: ParameterOf<Parameters>,
  matched: 'blueScore' | 'daaScore',
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  select ${block(matched)} as item from blocks block where ${condition}
  order by block.is_chain_block desc, block.id limit ${parameter('limit', 'bigint')}`;

/** Each source has its rows in order. Those whose parameter is null have none. */
const sources = (parameter: ParameterOf<Parameters>): readonly RawBuilder<unknown>[] => {
  const limit = parameter('limit', 'bigint');
  const id = parameter('hash', 'bytea');
  const given = parameter('address', 'text');
  const score = parameter('score', 'bigint');
  const pending = jsonObject<z.infer<typeof transactionResult>>({
    type: sql`'transaction'::text`,
    id: sql`encode(${id}, 'hex')`,
    label: sql`null`,
    blockTime: sql`null`,
    isAccepted: sql`false`,
    isPending: sql`true`,
  });
  return [
    sql`select ${block('hash')} as item from blocks block where block.hash = ${id}`,
    sql`
      select ${jsonObject<z.infer<typeof transactionResult>>({
        type: sql`'transaction'::text`,
        id: hex('transactions.transaction_id'),
        label: sql`null`,
        blockTime: sql`containing."blockTime"`,
        isAccepted: isAccepted(),
        isPending: sql`false`,
      })} as item
      from transactions ${joinAccepting} cross join lateral (${containing}) containing
      where ${hasTransactionId('transactions', id)}`,
    sql`
      select ${pending} as item where ${parameter('isPending', 'boolean')}
        and not exists (select from transactions where ${hasTransactionId('transactions', id)})`,
    sql`
      select ${jsonObject<z.infer<typeof addressResult>>({
        type: sql`'address'::text`,
        id: sql`requested.address`,
        label: sql`${tagOfScript(sql`requested.address`, sql`scripts.id`)} ->> 'name'`,
        balance: sql`coalesce(balances.balance, 0)::text`,
        transactionCount: transactionCountOf(sql`balances.transaction_count`, sql`scripts.id`),
      })} as item
      from (select ${given} as address) requested
      left join scripts on scripts.address = requested.address
      left join balances on balances.script_id = scripts.id
      where requested.address is not null`,
    byScore(parameter, 'blueScore', sql`block.blue_score = ${score}`),
    // A block of which both are this score is found by its blue score.
    byScore(parameter, 'daaScore', sql`block.daa_score = ${score} and block.blue_score <> ${score}`),
    sql`
      select ${block('hash')} as item from blocks block
      where block.hash >= ${parameter('prefix', 'bytea')} and block.hash <= ${parameter('prefixEnd', 'bytea')}
      order by block.hash limit ${limit}`,
    sql`
      select ${jsonObject<z.infer<typeof tagResult>>({
        type: sql`'tag'::text`,
        id: sql`named.name`,
        label: sql`named.name`,
        labels: sql`best.labels`,
        address: sql`best.address`,
        addressCount: sql`(select count(*) from tags where tags.name collate "C" = named.name)`,
      })} as item
      from (
        select lower(name) collate "C" as lower_name, name collate "C" as name from tags
        where lower(name) collate "C" >= ${parameter('tag', 'text')} and lower(name) collate "C" < ${parameter('tagEnd', 'text')}
        group by 1, 2 order by 1, 2 limit ${limit}
      ) named
      cross join lateral (
        select tags.address, tags.labels from tags
        left join scripts on scripts.address = tags.address left join balances on balances.script_id = scripts.id
        where tags.name collate "C" = named.name
        order by balances.balance desc nulls last, tags.address limit 1
      ) best
      order by named.lower_name, named.name`,
  ];
};

const results = new Statement('search', (parameter: ParameterOf<Parameters>) => {
  const ranked = sources(parameter).map(
    (source, rank) => sql`
      select source.item, ${sql.lit(rank)} as rank, row_number() over () as place from (${source}) source`,
  );
  return {
    body: jsonBuildObject({
      results: sql<Result[]>`(
        select coalesce(json_agg(best.item order by best.rank, best.place), '[]') from (
          select * from (${sql.join(ranked, sql` union all `)}) found
          order by rank, place limit ${parameter('limit', 'bigint')}
        ) best)`,
    }),
  };
});

/** Returns the address that a text is, of the network; it may lack the prefix. */
function toAddress({ addressPrefix }: Network, q: string): string | undefined {
  const lower = q.toLowerCase();
  const candidate = ADDRESS_PREFIXES.some((prefix) => lower.startsWith(`${prefix}:`))
    ? lower
    : `${addressPrefix}:${lower}`;
  try {
    return decodeAddress(candidate).prefix === addressPrefix ? candidate : undefined;
  } catch (error) {
    if (error instanceof AddressError) return undefined;
    throw error;
  }
}

/** Pages of explorers name a block, transaction or address in the last part of their path, or in the one before a view of it. */
function fromUrl(q: string): string {
  const [, path] = /^(?:https?:\/\/)?[\w.-]+(?::\d+)?(\/[^?#\s]*)/i.exec(q) ?? [];
  if (path === undefined) return q;
  const parts = path
    .split('/')
    .map(decodePart)
    .filter((part) => part !== '');
  return parts.findLast((part) => isIdentifier(part)) ?? parts.at(-1) ?? q;
}

const isIdentifier = (part: string): boolean =>
  /^(?:0x)?[0-9a-f]{64}$/i.test(part) || /^(?:[a-z]+:)?[02-9ac-hj-np-z]{61,63}$/i.test(part);

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Pages show scores with separators of thousands. */
const withoutSeparators = (q: string): string =>
  /^\d{1,3}(?:([,.'’_ \u00a0\u202f])\d{3})(?:\1\d{3})*$/.test(q) ? q.replaceAll(/\D/g, '') : q;

function meaningsOf(network: Network, text: string): Meanings {
  const q = withoutSeparators(fromUrl(text));
  const digits = q.replace(/^0x/i, '').toLowerCase();
  const isHex = /^[0-9a-f]*$/.test(digits);
  const isPrefix = isHex && digits.length >= MIN_PREFIX_DIGITS && digits.length < HASH_DIGITS;
  const tag = q.toLowerCase();
  const isTag = tag.length >= MIN_TAG_LENGTH;
  return {
    hash: isHex && digits.length === HASH_DIGITS ? fromHex(digits) : undefined,
    score: /^\d{1,20}$/.test(q) ? toStoredScore(BigInt(q)) : undefined,
    prefix: isPrefix ? fromHex(digits.padEnd(HASH_DIGITS, '0')) : undefined,
    prefixEnd: isPrefix ? fromHex(digits.padEnd(HASH_DIGITS, 'f')) : undefined,
    address: toAddress(network, q),
    tag: isTag ? tag : undefined,
    tagEnd: isTag ? `${tag}${LAST_CHARACTER}` : undefined,
  };
}

/** An unavailable node does not prevent a search. */
async function isInMempool(node: NodeCaller, id: Uint8Array): Promise<boolean> {
  const request = { txId: Buffer.from(id).toString('hex'), includeOrphanPool: true, filterTransactionPool: false };
  return node.call('getMempoolEntry', request, { deadlineMs: MEMPOOL_DEADLINE_MS }).then(
    () => true,
    () => false,
  );
}

export const search = statementRoute(
  {
    ...lookUp('Network', '/v1/search', 'search'),
    cost: 0.5,
    summary: 'Blocks, transactions, addresses and tags that a text may mean',
    description: `Hashes, ids and addresses with or without prefix; blue and DAA scores, also with separators of thousands; the URL of a page of this or another explorer; the first ${MIN_PREFIX_DIGITS} or more digits of a block hash; the first ${MIN_TAG_LENGTH} or more characters of the name of a tag, in either case.`,
    tagOf: 'content',
    query: z.strictObject({
      q: z
        .string()
        .max(MAX_LENGTH)
        .min(1, 'must not be empty')
        .transform((given) => given.trim())
        .refine((given) => given !== '' && !given.includes('\0'), 'must not be empty')
        .meta({ description: 'What to look for' }),
      limit: queryNumber(1, MAX_RESULTS, `Most results; ${DEFAULT_RESULTS} by default`).default(DEFAULT_RESULTS),
    }),
    response: z.object({
      results: z
        .array(z.discriminatedUnion('type', [blockResult, transactionResult, addressResult, tagResult]))
        .meta({ description: 'Best match first' }),
    }),
  },
  async ({ query: { q, limit } }, settled, { nodeCalls }) => {
    requireCaughtUp(settled);
    const { network } = settled;
    const meanings = meaningsOf(network, q);
    const isPending = meanings.hash !== undefined && (await isInMempool(nodeCalls.of('search'), meanings.hash));
    return results.with({ ...meanings, isPending, limit });
  },
);
