/** Whether transactions are accepted, by which chain block, and how deep that is by now. */
import type { Database } from '@kasgres/database';
import { toHex } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../index-state/answer.ts';
import { type IndexState, type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { list } from '../../schemas/list.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { count, hash, hashInput } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { findEarlierIds, getStartBlueScore } from './earlier.ts';

const MAX_IDS = 500;

const body = z.strictObject({ transactionIds: list(hashInput, MAX_IDS) });

const transactionAcceptance = z
  .object({
    transactionId: hash,
    isAccepted: z.boolean().meta({
      description:
        'False also for what is unknown. Of transactions that were accepted before what is indexed, or in a gap, those are known of which a UTXO was left at the start behind it',
    }),
    acceptingBlockHash: hash.nullable().meta({
      description: 'Null also for a transaction that was accepted before what is indexed, or in a gap',
    }),
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the accepting block; where that is not known, less that of the latest start, which is no less',
    }),
  })
  .meta({ id: 'TransactionAcceptance' });

const acceptance = z.object({
  transactions: z.array(transactionAcceptance).meta({ description: 'One for each id asked, in the order asked' }),
});

type AcceptanceJson = z.infer<typeof transactionAcceptance>;

interface AcceptedRow {
  transaction_id: string;
  accepting_block_hash: string | null;
  accepting_block_blue_score: bigint;
}

/** Only those that a block of the index accepts. */
async function listAccepted(db: Kysely<Database>, transactionIds: readonly Uint8Array[]): Promise<AcceptedRow[]> {
  const { rows } = await sql<AcceptedRow>`
    select encode(t.transaction_id, 'hex') as transaction_id, encode(b.hash, 'hex') as accepting_block_hash,
      b.blue_score as accepting_block_blue_score
    from transactions t join blocks b on b.id = t.accepting_block_id
    where t.transaction_id = any(${transactionIds}::bytea[])`.execute(db);
  return rows;
}

/** Those that were accepted before a start: somewhere below the latest one. */
async function listEarlier(db: Kysely<Database>, transactionIds: readonly Uint8Array[]): Promise<AcceptedRow[]> {
  const ids = await findEarlierIds(db, transactionIds);
  if (ids.size === 0) return [];
  const accepting = { accepting_block_hash: null, accepting_block_blue_score: await getStartBlueScore(db) };
  return [...ids].map((transaction_id) => ({ transaction_id, ...accepting }));
}

function toAcceptance(transactionId: string, row: AcceptedRow | undefined, state: IndexState): AcceptanceJson {
  if (row === undefined) return { transactionId, isAccepted: false, acceptingBlockHash: null, confirmations: 0 };
  return {
    transactionId,
    isAccepted: true,
    acceptingBlockHash: row.accepting_block_hash,
    confirmations: Number(state.sinkBlueScore - row.accepting_block_blue_score),
  };
}

async function getAcceptance({ db, state }: Reading, transactionIds: readonly Uint8Array[]): Promise<AcceptanceJson[]> {
  requireCaughtUp(state);
  const rows = [...(await listEarlier(db, transactionIds)), ...(await listAccepted(db, transactionIds))];
  const rowOf = new Map(rows.map((row) => [row.transaction_id, row]));
  return transactionIds.map((id) => toAcceptance(toHex(id), rowOf.get(toHex(id)), state));
}

export const acceptanceRoutes: ApiPlugin = async (app, { index }) => {
  app.post(
    '/v1/transactions/acceptance',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getTransactionsAcceptance',
        summary: 'Acceptance data of up to 500 transactions',
        tags: ['Transaction'],
        body,
        response: answers(acceptance, 304, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async (reading) => ({
        transactions: await getAcceptance(reading, request.body.transactionIds),
      })),
  );
};
