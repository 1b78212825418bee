/** One transaction, or several, by id. */
import { z } from 'zod';
import { type HttpError, notFound } from '../../../http/errors.ts';
import { respondFromIndex } from '../../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../../index-state/state.ts';
import { list } from '../../../schemas/list.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../../schemas/responses.ts';
import { flag, hashInput } from '../../../schemas/values.ts';
import type { ApiPlugin } from '../../../services.ts';
import { unknown } from '../../chain/parts.ts';
import { findEarlierIds } from '../earlier.ts';
import { findTransactionKeys } from './find-keys.ts';
import { loadRestTransactions } from './load-rest-transactions.ts';
import { includePayload, type RestTransactionJson, restTransaction } from './schemas.ts';

const MAX_IDS = 500;

const params = z.strictObject({ transactionId: hashInput });

const query = z.strictObject({ include_payload: includePayload });

const body = z.strictObject({
  transactionIds: list(hashInput, MAX_IDS),
  includePayload: flag.meta({ description: 'Show payloads' }),
});

const one = z.object({ transaction: restTransaction });

const several = z.object({
  transactions: z
    .array(restTransaction)
    .meta({ description: 'In the order asked, without the unknown ones; asked for twice, it is shown twice' }),
});

async function findTransactions(
  reading: Reading,
  transactionIds: readonly Uint8Array[],
  options: { includePayload: boolean },
): Promise<RestTransactionJson[]> {
  requireCaughtUp(reading.state);
  return loadRestTransactions(reading, await findTransactionKeys(reading.db, transactionIds), options);
}

async function notHere(reading: Reading, transactionId: Uint8Array): Promise<HttpError> {
  const earlier = await findEarlierIds(reading.db, [transactionId]);
  if (earlier.size === 0) return await unknown(reading, 'transaction');
  return notFound(
    'This transaction was accepted before what is indexed: nothing is known of it but UTXOs that it made',
  );
}

export const lookUpTransactionsRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/transactions/:transactionId',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getTransaction',
        summary: 'A transaction by its id',
        tags: ['Transaction'],
        params,
        querystring: query,
        response: answers(one, 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async (reading) => {
        const options = { includePayload: request.query.include_payload };
        const [transaction] = await findTransactions(reading, [request.params.transactionId], options);
        if (transaction === undefined) throw await notHere(reading, request.params.transactionId);
        return { transaction };
      }),
  );

  app.post(
    '/v1/transactions',
    {
      config: { cost: 0.1, costsByItemsOf: ['transactionIds'] },
      schema: {
        operationId: 'getTransactions',
        summary: 'Up to 500 transactions by their ids',
        tags: ['Transaction'],
        body,
        response: answers(several, 304, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async (reading) => ({
        transactions: await findTransactions(reading, request.body.transactionIds, request.body),
      })),
  );
};
