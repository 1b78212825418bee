/** POST /v1/transactions/acceptance: whether transactions are accepted, by which chain block, and with how many confirmations. */
import { toHex } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import { type IndexState, type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { list } from '../../schemas/list.ts';
import { count, hash, hashInput } from '../../schemas/values.ts';
import { findPreBootstrapIds, getBootstrapBlueScore } from './pre-bootstrap.ts';

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

const acceptance = z.object({
  transactions: z.array(transactionAcceptance).meta({ description: 'One for each id, in the given order' }),
});

type AcceptanceJson = z.infer<typeof transactionAcceptance>;

interface AcceptedRow {
  transaction_id: string;
  accepting_block_hash: string | null;
  accepting_block_blue_score: bigint;
}

/** Lists transactions that an indexed block accepts. */
async function listAccepted(db: Db, transactionIds: readonly Uint8Array[]): Promise<AcceptedRow[]> {
  const { rows } = await sql<AcceptedRow>`
    select encode(t.transaction_id, 'hex') as transaction_id, encode(b.hash, 'hex') as accepting_block_hash,
      b.blue_score as accepting_block_blue_score
    from transactions t join blocks b on b.id = t.accepting_block_id
    where t.transaction_id = any(${transactionIds}::bytea[])`.execute(db);
  return rows;
}

async function listPreBootstrap(db: Db, transactionIds: readonly Uint8Array[]): Promise<AcceptedRow[]> {
  const ids = await findPreBootstrapIds(db, transactionIds);
  if (ids.size === 0) return [];
  const accepting = { accepting_block_hash: null, accepting_block_blue_score: await getBootstrapBlueScore(db) };
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
  const rows = [...(await listPreBootstrap(db, transactionIds)), ...(await listAccepted(db, transactionIds))];
  const rowOf = new Map(rows.map((row) => [row.transaction_id, row]));
  return transactionIds.map((id) => toAcceptance(toHex(id), rowOf.get(toHex(id)), state));
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
    response: acceptance,
  },
  async (reading, { body }) => ({ transactions: await getAcceptance(reading, body.transactionIds) }),
);
