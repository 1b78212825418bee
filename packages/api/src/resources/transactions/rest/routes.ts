/** GET /v1/transactions, and look-ups of transactions by id. */
import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../../http/errors.ts';
import { type Reading, requireCaughtUp } from '../../../index-state/state.ts';
import { pageQuery } from '../../../pages/page-query.ts';
import { listKeys, readPage } from '../../../pages/read-page.ts';
import { indexRoute } from '../../../route.ts';
import { list } from '../../../schemas/list.ts';
import { flag, hashInput } from '../../../schemas/values.ts';
import { listing, lookUp, page } from '../../shared.ts';
import { unknownItem } from '../../chain/segments.ts';
import { isAccepted } from '../queries.ts';
import { findTransactionKeys, loadRestTransactions } from './load-rest-transactions.ts';
import { includePayload, restTransaction, transactionFlags } from './schemas.ts';

const MAX_IDS = 500;

async function findTransactions(reading: Reading, transactionIds: readonly Uint8Array[], includePayload: boolean) {
  requireCaughtUp(reading.state);
  return loadRestTransactions(reading, await findTransactionKeys(reading.db, transactionIds), includePayload);
}

export const listTransactions = indexRoute(
  {
    ...listing('Transaction', '/v1/transactions', 'listTransactions'),
    summary: 'Transactions, newest first',
    query: pageQuery(hashInput, transactionFlags),
    response: page({ transactions: z.array(restTransaction).meta({ description: 'Newest first' }) }),
  },
  async (reading, { query }) => {
    const { db, state } = reading;
    requireCaughtUp(state);
    // Few transactions are not accepted, and so skipped.
    const source = { table: 'transactions', column: 'id', ...(query.accepted_only && { where: isAccepted() }) };
    const { rows, metadata } = await readPage(query, {
      findPosition: async (transactionId) => (await findTransactionKeys(db, [transactionId]))[0],
      list: (slice) => listKeys(db, source, slice),
    });
    const transactions = await loadRestTransactions(reading, rows, query.include_payload);
    return { transactions, metadata };
  },
);

export const getTransaction = indexRoute(
  {
    ...lookUp('Transaction', '/v1/transactions/:transactionId', 'getTransaction'),
    summary: 'One transaction by its id',
    params: z.strictObject({ transactionId: hashInput }),
    query: z.strictObject({ include_payload: includePayload }),
    response: z.object({ transaction: restTransaction }),
    errors: [404],
  },
  async (reading, { params: { transactionId }, query }) => {
    const { db } = reading;
    const [transaction] = await findTransactions(reading, [transactionId], query.include_payload);
    if (transaction !== undefined) return { transaction };
    const { rows } = await sql`select from earlier_transactions where transaction_id = ${transactionId}`.execute(db);
    if (rows.length === 0) throw await unknownItem(reading, 'transaction');
    throw notFound('The transaction was accepted before the indexed blocks: only UTXOs of it are known');
  },
);

export const getTransactions = indexRoute(
  {
    method: 'POST',
    url: '/v1/transactions',
    operationId: 'getTransactions',
    summary: 'Up to 500 transactions by their ids',
    tag: 'Transaction',
    cost: 0.1,
    costsByItemsOf: ['transactionIds'],
    body: z.strictObject({
      transactionIds: list(hashInput, MAX_IDS),
      includePayload: flag.meta({ description: 'Include payloads' }),
    }),
    response: z.object({
      transactions: z
        .array(restTransaction)
        .meta({ description: 'In the given order without unknown ones; a repeated id is shown repeatedly' }),
    }),
  },
  async (reading, { body }) => ({
    transactions: await findTransactions(reading, body.transactionIds, body.includePayload),
  }),
);
