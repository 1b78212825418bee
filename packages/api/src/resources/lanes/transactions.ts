/** GET /v1/lanes/{namespace}/transactions: transactions of a user lane, newest first. */
import {
  hashInput,
  hasTransactionId,
  isAccepted,
  type ParameterOf,
  requireCaughtUp,
  statementsBy,
  transactionIdOf,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { cursorOf, keyPage, type PageParameters, pageProblems, type PageStart, startOf } from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { statementRoute } from '../../openapi/route.ts';
import { listing, page } from '../shared.ts';
import { restTransaction, transactionFlags } from '../transactions/rest/schemas.ts';
import { boundByBytes, restTransactions } from '../transactions/rest/select-transactions.ts';
import { addPrograms, includeParts, type Parts, partsOf, tagOfParts } from '../transactions/rest/programs.ts';
import { tagsByAddress, tagsOfPage } from '../transactions/rest/tags.ts';
import { laneKeyOf, type LaneParameters, namespaceInput, unknownLane } from './schemas.ts';

interface Variant extends Parts {
  start: PageStart;
  acceptedOnly: boolean;
}

/** The conditions match the partial index transactions_lane. */
const transactionPage = statementsBy(
  'lane transactions',
  (parameter: ParameterOf<PageParameters & LaneParameters>, { start, acceptedOnly, withTags, ...options }: Variant) => {
    const inLane = sql`subnetwork_id > 1 and subnetwork_id = (select key from lane)`;
    const { tables, items, metadata, problem } = keyPage(parameter, start, {
      table: 'transactions',
      column: 'id',
      where: inLane,
      ...(acceptedOnly && {
        filter: { condition: isAccepted(), columns: ['accepting_index'], cursorOf: transactionIdOf },
      }),
      cursorKey: sql`(
        select id from transactions
          where ${hasTransactionId('transactions', parameter('cursor', 'bytea'))} and ${inLane})`,
      bound: boundByBytes(options.includePayload),
    });
    return {
      tables: { lane: sql`select ${laneKeyOf(parameter)} as key`, ...tables },
      problem: sql<
        string | null
      >`case when (select key from lane) is null then 'unknown' else ${problem ?? sql`null`} end`,
      body: jsonBuildObject({
        transactions: restTransactions(items, options),
        metadata,
        ...(withTags && { tags: tagsOfPage(items) }),
      }),
    };
  },
);

export const listLaneTransactions = statementRoute(
  {
    ...listing('Lane', '/v1/lanes/:namespace/transactions', 'listLaneTransactions'),
    summary: 'Transactions of a user lane, newest first',
    tagOf: ({ query }) => tagOfParts(query.include),
    params: z.strictObject({ namespace: namespaceInput }),
    query: pageQuery(hashInput, { ...transactionFlags, include: includeParts }),
    response: page({
      transactions: z.array(restTransaction).meta({ description: 'Newest first' }),
      tags: tagsByAddress.optional(),
    }),
    finishOf: ({ query }) => addPrograms(query.include, query.include_payload),
  },
  ({ params, query }, settled) => {
    requireCaughtUp(settled);
    const variant = {
      start: startOf(query),
      acceptedOnly: query.accepted_only,
      ...partsOf(query.include_payload, query.include),
    };
    return transactionPage(variant).with({
      subnetwork: params.namespace,
      limit: query.limit,
      cursor: cursorOf(query),
    });
  },
  { ...pageProblems, unknown: unknownLane },
);
