/** What a transaction in a listing has beyond its row in a block: one query for each kind of row, by key only. */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { anyOf, hex, hexOrNull, textOrNull } from '../../../index-state/sql.ts';
import { isAccepted } from '../earlier.ts';
import { selectInputs, transactionColumns } from '../queries.ts';

export type RestTransactionRow = Awaited<ReturnType<typeof listRestTransactions>>[number];

/** Transactions, in no order, with the block that accepts them and the number of the body that it accepted; else of the first. */
export function listRestTransactions(db: Kysely<Database>, ids: readonly bigint[], includePayload: boolean) {
  return db
    .selectFrom('transactions')
    .innerJoin('subnetworks', 'subnetworks.id', 'transactions.subnetwork_id')
    .leftJoin('blocks as accepting', 'accepting.id', 'transactions.accepting_block_id')
    .select([
      ...transactionColumns,
      sql<number>`coalesce(transactions.accepted_body, 0)`.as('body'),
      textOrNull('transactions.fee').as('fee'),
      'transactions.accepting_block_id',
      isAccepted().as('is_accepted'),
      hexOrNull('accepting.hash').as('accepting_block_hash'),
      'accepting.blue_score as accepting_block_blue_score',
    ])
    .$if(includePayload, (query) => query.select(hex('transactions.payload').as('payload')))
    .where('transactions.id', '=', anyOf(ids))
    .execute();
}

export type ContainingBlockRow = Awaited<ReturnType<typeof listContainingBlocks>>[number];

/** The blocks that contain transactions, the earliest first. */
export function listContainingBlocks(db: Kysely<Database>, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('block_transactions as contained')
    .innerJoin('blocks', 'blocks.id', 'contained.block_id')
    .select(['contained.transaction_id', hex('blocks.hash').as('hash'), 'blocks.timestamp', 'blocks.merging_block_id'])
    .where('contained.transaction_id', '=', anyOf(transactionIds))
    .orderBy('contained.transaction_id')
    .orderBy('blocks.timestamp')
    .orderBy('blocks.hash')
    .execute();
}

export type SpendingInputRow = Awaited<ReturnType<typeof listSpendingInputs>>[number];

/** Inputs of first bodies with the UTXOs they spend, in order. */
export function listSpendingInputs(db: Kysely<Database>, transactionIds: readonly bigint[]) {
  return selectInputs(db, transactionIds)
    .leftJoin('scripts', 'scripts.id', 'input.script_id')
    .select([
      sql<boolean>`previous.accepting_block_id is not null or earlier.id is not null`.as('is_previous_accepted'),
      textOrNull('input.amount').as('amount'),
      hexOrNull('scripts.script').as('script'),
      'scripts.type',
      'scripts.address',
    ])
    .execute();
}

export type SpenderRow = Awaited<ReturnType<typeof listSpenders>>[number];

/** The accepted transactions that spend outputs of transactions: one for an output at most. */
export function listSpenders(db: Kysely<Database>, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_inputs as input')
    .innerJoin('transactions as spender', 'spender.id', 'input.transaction_id')
    .select([
      'input.previous_transaction_id as transaction_id',
      'input.previous_index as index',
      hex('spender.transaction_id').as('spent_by'),
    ])
    .where('input.previous_transaction_id', '=', anyOf(transactionIds))
    .where(isAccepted('spender'))
    .execute();
}
