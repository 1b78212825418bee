/** GET /v1/transactions, and look-ups of transactions by id. */
import {
  flag,
  hashInput,
  hasTransactionId,
  isAccepted,
  list,
  notFound,
  type ParameterOf,
  requireCaughtUp,
  statementsBy,
  transactionIdOf,
  unknownItem,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import {
  cursorOf,
  keyPage,
  type PageParameters,
  pageProblems,
  type PageStart,
  startOf,
} from '../../../pages/key-page.ts';
import { pageQuery } from '../../../pages/page-query.ts';
import { statementRoute } from '../../../openapi/route.ts';
import { listing, lookUp, page } from '../../shared.ts';
import { includePayload, restTransaction, transactionFlags } from './schemas.ts';
import {
  boundByBytes,
  oneRestTransaction,
  restTransactions,
  tooLargeFor,
  unlessTooLarge,
} from './select-transactions.ts';
import { addPrograms, includeParts, type Parts, partsOf, tagOfParts } from './programs.ts';
import { tagsByAddress, tagsOfPage } from './tags.ts';

const MAX_IDS = 500;

/** Selects the key of a transaction; null if it is unknown. */
const keyOf = (transactionId: RawBuilder<unknown>): RawBuilder<bigint | null> =>
  sql`(select id from transactions where ${hasTransactionId('transactions', transactionId)})`;

interface ListVariant extends Parts {
  start: PageStart;
  acceptedOnly: boolean;
}

const transactionPage = statementsBy(
  'transactions',
  (parameter: ParameterOf<PageParameters>, { start, acceptedOnly, withTags, ...options }: ListVariant) => {
    const { items, metadata, ...parts } = keyPage(parameter, start, {
      table: 'transactions',
      column: 'id',
      ...(acceptedOnly && {
        filter: { condition: isAccepted(), columns: ['accepting_index'], cursorOf: transactionIdOf },
      }),
      cursorKey: keyOf(parameter('cursor', 'bytea')),
      bound: boundByBytes(options.includePayload),
    });
    return {
      ...parts,
      body: jsonBuildObject({
        transactions: restTransactions(items, options),
        metadata,
        ...(withTags && { tags: tagsOfPage(items) }),
      }),
    };
  },
);

export const listTransactions = statementRoute(
  {
    ...listing('Transaction', '/v1/transactions', 'listTransactions'),
    summary: 'Transactions, newest first',
    tagOf: ({ query }) => tagOfParts(query.include),
    query: pageQuery(hashInput, { ...transactionFlags, include: includeParts }),
    response: page({
      transactions: z.array(restTransaction).meta({ description: 'Newest first' }),
      tags: tagsByAddress.optional(),
    }),
    finishOf: ({ query }) => addPrograms(query.include, query.include_payload),
  },
  ({ query }, settled) => {
    requireCaughtUp(settled);
    const variant = {
      start: startOf(query),
      acceptedOnly: query.accepted_only,
      ...partsOf(query.include_payload, query.include),
    };
    return transactionPage(variant).with({ limit: query.limit, cursor: cursorOf(query) });
  },
  pageProblems,
);

/** Makes a `page` of the transactions with these ids, with their positions in the list. */
export const pageOfIds = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select transactions.id as key, requested.position
  from unnest(${ids}) with ordinality as requested (id, position)
  join transactions on ${hasTransactionId('transactions', sql`requested.id`)}`;

/** Selects the transactions with these ids in the given order, without unknown ones. */
export const transactionsByIds = statementsBy(
  'transactions by ids',
  (parameter: ParameterOf<{ ids: readonly Uint8Array[] }>, { withTags, ...options }: Parts) =>
    unlessTooLarge(options, {
      tables: { page: pageOfIds(parameter('ids', 'bytea[]')) },
      body: jsonBuildObject({
        transactions: restTransactions(sql`order by page.position`, options),
        ...(withTags && { tags: tagsOfPage() }),
      }),
    }),
);

const transactionById = statementsBy(
  'transaction by id',
  (parameter: ParameterOf<{ id: Uint8Array }>, { withTags, ...options }: Parts) => ({
    tables: {
      page: sql`select id as key from transactions where ${hasTransactionId('transactions', parameter('id', 'bytea'))}`,
    },
    problem: sql<string | null>`case when not exists (select from page) then
      case when exists (select from pre_bootstrap_transactions
        where transaction_id = ${parameter('id', 'bytea')})
        then 'pre-bootstrap' else 'unknown' end end`,
    body: jsonBuildObject({
      transaction: oneRestTransaction(options),
      ...(withTags && { tags: tagsOfPage() }),
    }),
  }),
  () => ({ itemsOf: () => 1 }),
);

export const getTransaction = statementRoute(
  {
    ...lookUp('Transaction', '/v1/transactions/:transactionId', 'getTransaction'),
    summary: 'One transaction by its id',
    tagOf: ({ query }) => tagOfParts(query.include),
    params: z.strictObject({ transactionId: hashInput }),
    query: z.strictObject({ include_payload: includePayload, include: includeParts }),
    response: z.object({ transaction: restTransaction, tags: tagsByAddress.optional() }),
    errors: [404],
    finishOf: ({ query }) => addPrograms(query.include, query.include_payload),
  },
  ({ params, query }, settled) => {
    requireCaughtUp(settled);
    return transactionById(partsOf(query.include_payload, query.include)).with({ id: params.transactionId });
  },
  {
    unknown: (state) => unknownItem(state, 'transaction'),
    'pre-bootstrap': () =>
      notFound('The transaction was accepted before the indexed blocks: only UTXOs of it are known'),
  },
);

export const getTransactions = statementRoute(
  {
    method: 'POST',
    url: '/v1/transactions',
    operationId: 'getTransactions',
    summary: 'Up to 500 transactions by their ids',
    tag: 'Transaction',
    cost: 0.1,
    countItems: ({ transactionIds }) => transactionIds.length,
    tagOf: ({ body }) => tagOfParts(body.include),
    body: z.strictObject({
      transactionIds: list(hashInput, MAX_IDS),
      includePayload: flag.meta({ description: 'Include payloads' }),
      include: includeParts,
    }),
    response: z.object({
      transactions: z
        .array(restTransaction)
        .meta({ description: 'In the given order without unknown ones; a repeated id is shown repeatedly' }),
      tags: tagsByAddress.optional(),
    }),
    finishOf: ({ body }) => addPrograms(body.include, body.includePayload),
  },
  ({ body }, settled) => {
    requireCaughtUp(settled);
    return transactionsByIds(partsOf(body.includePayload, body.include)).with({ ids: body.transactionIds });
  },
  {
    'too large': (_state, { body }) => tooLargeFor('transactionIds', partsOf(body.includePayload, body.include)),
  },
);
