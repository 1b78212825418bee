/** GET /v1/transactions: the newest transactions, by the order in which they were first written. */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../../index-state/answer.ts';
import { requireCaughtUp } from '../../../index-state/state.ts';
import { pageMetadata, pageQuery } from '../../../pages/page-query.ts';
import { readPage, type Slice } from '../../../pages/read-page.ts';
import { answers, UNDER_KEY } from '../../../schemas/responses.ts';
import { hashInput } from '../../../schemas/values.ts';
import type { ApiPlugin } from '../../../services.ts';
import { isAccepted } from '../earlier.ts';
import { findTransactionKey } from './find-keys.ts';
import { loadRestTransactions } from './load-rest-transactions.ts';
import { acceptedOnly, includePayload, restTransaction } from './schemas.ts';

const query = pageQuery(hashInput, { accepted_only: acceptedOnly, include_payload: includePayload });

const page = z.object({
  transactions: z.array(restTransaction).meta({ description: 'Newest first' }),
  metadata: pageMetadata,
});

/**
 * Nearest to the start of the slice first. What is not accepted is passed over on the way: never long, since each chain block accepts
 * something of the few blocks that it merges.
 */
async function listKeys(
  db: Kysely<Database>,
  { from, isBackward, limit }: Slice<bigint>,
  onlyAccepted: boolean,
): Promise<bigint[]> {
  const rows = await db
    .selectFrom('transactions')
    .select('id')
    .$if(from !== undefined, (all) => all.where('id', isBackward ? '>' : '<', from as bigint))
    .$if(onlyAccepted, (all) => all.where(isAccepted()))
    .orderBy('id', isBackward ? 'asc' : 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

export const listTransactionsRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/transactions',
    {
      config: { cost: 0.5 },
      schema: {
        operationId: 'listTransactions',
        summary: 'Transactions, newest first',
        tags: ['Transaction'],
        querystring: query,
        response: answers(page, 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async (reading) => {
        const { db, state } = reading;
        const { accepted_only, include_payload } = request.query;
        requireCaughtUp(state);
        const { rows, metadata } = await readPage(request.query, {
          findPosition: (transactionId) => findTransactionKey(db, transactionId),
          list: (slice) => listKeys(db, slice, accepted_only),
        });
        const transactions = await loadRestTransactions(reading, rows, { includePayload: include_payload });
        return { transactions, metadata };
      }),
  );
};
