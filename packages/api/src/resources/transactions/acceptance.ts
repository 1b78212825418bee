/**
 * POST /v1/transactions/acceptance: whether transactions are accepted, by which chain block, and
 * with how many confirmations.
 */
import {
  count,
  hash,
  hasTransactionId,
  hexHashInput,
  list,
  type ParameterOf,
  requireCaughtUp,
  sinkBlueScore,
  Statement,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';

const MAX_IDS = 500;

const transactionAcceptance = z
  .object({
    transactionId: hash,
    isAccepted: z.boolean().meta({
      description:
        'Also false for unknown transactions. Transactions that were accepted before the first indexed block, or in a gap, are known if one of their UTXOs was unspent at the next bootstrap block',
    }),
    acceptingBlockHash: hash.nullable().meta({
      description: 'Also null for a transaction that was accepted before the first indexed block, or in a gap',
    }),
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the accepting block; if that is unknown, a lower bound: less that of the latest bootstrap block',
    }),
  })
  .meta({ id: 'TransactionAcceptance' });

type AcceptanceJson = z.infer<typeof transactionAcceptance>;

const acceptanceOfTransactions = new Statement(
  'acceptance',
  (parameter: ParameterOf<{ transactionIds: readonly string[] }>) => ({
    body: jsonBuildObject({
      transactions: sql<AcceptanceJson[]>`(
        select coalesce(json_agg(listed), '[]') from (
          select
            requested.id as "transactionId",
            accepting.index is not null or is_pre_bootstrap_id(requested.id) as "isAccepted",
            encode(accepting.hash, 'hex') as "acceptingBlockHash",
            case when accepting.index is not null then ${sinkBlueScore} - accepting.blue_score
              when is_pre_bootstrap_id(requested.id) then ${sinkBlueScore} - bootstrap_blue_score()
              else 0 end as confirmations
          from unnest(${parameter('transactionIds', 'text[]')})
            with ordinality as requested (id, position)
          left join transactions
            on ${hasTransactionId('transactions', sql`decode(requested.id, 'hex')`)}
          left join chain_blocks accepting on accepting.index = transactions.accepting_index
          order by requested.position
        ) listed)`,
    }),
  }),
);

export const getTransactionsAcceptance = statementRoute(
  {
    method: 'POST',
    url: '/v1/transactions/acceptance',
    operationId: 'getTransactionsAcceptance',
    summary: 'Acceptance of up to 500 transactions',
    tag: 'Transaction',
    cost: 0.1,
    body: z.strictObject({ transactionIds: list(hexHashInput, MAX_IDS) }),
    response: z.object({
      transactions: z.array(transactionAcceptance).meta({ description: 'One for each id, in the given order' }),
    }),
  },
  ({ body }, settled) => {
    requireCaughtUp(settled);
    return acceptanceOfTransactions.with({ transactionIds: body.transactionIds });
  },
);
