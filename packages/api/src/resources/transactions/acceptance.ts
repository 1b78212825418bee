/** POST /v1/transactions/acceptance: whether transactions are accepted, by which chain block, and with how many confirmations. */
import { toHex } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { list } from '../../schemas/list.ts';
import { count, hash, hashInput } from '../../schemas/values.ts';
import { bootstrapBlueScore } from './queries.ts';

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

interface AcceptedRow {
  transaction_id: string;
  hash: string | null;
  blue_score: bigint;
}

/** Lists accepted transactions. Those with an indexed accepting block are last, since that takes precedence over a bootstrap block. */
async function listAccepted(db: Db, transactionIds: readonly Uint8Array[]): Promise<AcceptedRow[]> {
  const { rows } = await sql<AcceptedRow>`
    select encode(transaction_id, 'hex') as transaction_id, null as hash, ${bootstrapBlueScore} as blue_score
    from earlier_transactions where transaction_id = any(${transactionIds}::bytea[])
    union all
    select encode(t.transaction_id, 'hex'), encode(b.hash, 'hex'), b.blue_score
    from transactions t join blocks b on b.id = t.accepting_block_id
    where t.transaction_id = any(${transactionIds}::bytea[])
    order by hash nulls first`.execute(db);
  return rows;
}

export const getTransactionsAcceptance = indexRoute(
  {
    method: 'POST',
    url: '/v1/transactions/acceptance',
    operationId: 'getTransactionsAcceptance',
    summary: 'Acceptance of up to 500 transactions',
    tag: 'Transaction',
    cost: 0.1,
    body: z.strictObject({ transactionIds: list(hashInput, MAX_IDS) }),
    response: z.object({
      transactions: z.array(transactionAcceptance).meta({ description: 'One for each id, in the given order' }),
    }),
  },
  async ({ db, state }, { body }) => {
    requireCaughtUp(state);
    const rows = new Map((await listAccepted(db, body.transactionIds)).map((row) => [row.transaction_id, row]));
    const transactions = body.transactionIds.map(toHex).map((transactionId) => {
      const row = rows.get(transactionId);
      return {
        transactionId,
        isAccepted: row !== undefined,
        acceptingBlockHash: row?.hash ?? null,
        confirmations: row === undefined ? 0 : Number(state.sinkBlueScore - row.blue_score),
      };
    });
    return { transactions };
  },
);
