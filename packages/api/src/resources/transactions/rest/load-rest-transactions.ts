/** Finds and loads transactions in the form of listings and look-ups: one query for each kind of row, by key only. */
import { sql } from 'kysely';
import { anyOf, type Db, hex, hexOrNull, textOrNull } from '../../../index-state/sql.ts';
import type { Reading } from '../../../index-state/state.ts';
import { groupRows, indexRows } from '../../shared.ts';
import { hasComputeBudgets, toCovenant, toPayload } from '../load-transactions.ts';
import {
  bootstrapBlueScore,
  isAccepted,
  listOutputs,
  loadVariants,
  type OutputRow,
  selectInputs,
  transactionColumns,
} from '../queries.ts';
import type { RestInputJson, RestOutputJson, RestTransactionJson } from './schemas.ts';

/** Returns keys in the order of the ids, without unknown ones. */
export async function findTransactionKeys(db: Db, transactionIds: readonly Uint8Array[]): Promise<bigint[]> {
  const { rows } = await sql<{ key: bigint }>`
    select transactions.id as key
    from unnest(${transactionIds}::bytea[]) with ordinality as requested (id, position)
    join transactions on transactions.transaction_id = requested.id
    order by requested.position`.execute(db);
  return rows.map(({ key }) => key);
}

export type RestTransactionRow = Awaited<ReturnType<typeof listRestTransactions>>[number];

/** Lists transactions in any order. For pre-bootstrap transactions, `acceptance_blue_score` is an upper bound. */
function listRestTransactions(db: Db, ids: readonly bigint[], includePayload: boolean) {
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
      sql<bigint>`coalesce(accepting.blue_score, ${bootstrapBlueScore})`.as('acceptance_blue_score'),
    ])
    .$if(includePayload, (query) => query.select(hex('transactions.payload').as('payload')))
    .where('transactions.id', '=', anyOf(ids))
    .execute();
}

export type ContainingBlockRow = Awaited<ReturnType<typeof listContainingBlocks>>[number];

function listContainingBlocks(db: Db, transactionIds: readonly bigint[]) {
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

function listSpendingInputs(db: Db, transactionIds: readonly bigint[]) {
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

type SpenderRow = Awaited<ReturnType<typeof listSpenders>>[number];

/** Lists the accepted transactions that spend outputs: at most one for each output. */
function listSpenders(db: Db, transactionIds: readonly bigint[]) {
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

/** Returns transactions in the order of the keys. Must be called after `requireCaughtUp`, since indexes may be missing before. */
export async function loadRestTransactions(
  { db, state, slices }: Reading,
  keys: readonly bigint[],
  includePayload = false,
): Promise<RestTransactionJson[]> {
  if (keys.length === 0) return [];
  const rows = await listRestTransactions(db, keys, includePayload);
  const rowOf = indexRows('transaction', rows);
  const toVariant = await loadVariants(db, rows);
  const inputsOf = groupRows(await listSpendingInputs(db, keys), (row) => row.transaction_id);
  const outputsOf = groupRows(await listOutputs(db, keys), (row) => row.transaction_id);
  const spendersOf = groupRows(await listSpenders(db, keys), (row) => row.transaction_id);
  const blocksOf = groupRows(await listContainingBlocks(db, keys), (row) => row.transaction_id);
  return slices.map(keys, (key) => {
    const { row, inputs } = toVariant(rowOf(key), inputsOf(key));
    const related = { blocks: blocksOf(key), inputs, outputs: outputsOf(key), spenders: spendersOf(key) };
    return toRestTransaction(row, related, state.sinkBlueScore);
  });
}

export interface RelatedRows {
  blocks: readonly ContainingBlockRow[];
  inputs: readonly SpendingInputRow[];
  outputs: readonly OutputRow[];
  spenders: readonly SpenderRow[];
}

export function toRestTransaction(
  row: RestTransactionRow,
  related: RelatedRows,
  sinkBlueScore: bigint,
): RestTransactionJson {
  const { transaction_id: transactionId, accepting_block_blue_score: acceptingBlueScore } = row;
  const inputs = related.inputs.map((input, index) => toInput(row, input, index));
  const spentBy = new Map(related.spenders.map((spender) => [Number(spender.index), spender.spent_by]));
  return {
    transactionId,
    version: row.version,
    blockTime: toBlockTime(row, related.blocks),
    subnetworkId: row.subnetwork_id,
    hash: row.hash,
    mass: row.storage_mass,
    computeMass: row.compute_mass,
    fee: inputs.some((input) => input.previousOutput.amount === null) ? null : row.fee,
    lockTime: row.lock_time,
    gas: row.gas,
    ...(row.payload !== undefined && { payload: toPayload(row.payload) }),
    blockHashes: related.blocks.map((block) => block.hash),
    isAccepted: row.is_accepted,
    acceptingBlockHash: row.accepting_block_hash,
    acceptingBlockBlueScore: acceptingBlueScore === null ? null : String(acceptingBlueScore),
    confirmations: row.is_accepted ? Number(sinkBlueScore - row.acceptance_blue_score) : 0,
    inputs,
    outputs: related.outputs.map((output, index) => toOutput(transactionId, output, index, spentBy.get(index) ?? null)),
  };
}

/** Uses the blocks that the accepting block merges, since the transaction was accepted from one of them; all blocks if that is unknown. */
function toBlockTime(row: RestTransactionRow, blocks: readonly ContainingBlockRow[]): number {
  const isSource = (block: ContainingBlockRow) => block.merging_block_id === row.accepting_block_id;
  const earliest = row.accepting_block_id === null ? blocks[0] : blocks.find(isSource);
  if (earliest === undefined) {
    throw new Error(`transaction ${row.transaction_id} is in no block from which it could be accepted`);
  }
  return Number(earliest.timestamp);
}

/** A UTXO whose transaction is not accepted does not exist, and a transaction that spends it is not accepted either. */
function toInput(transaction: RestTransactionRow, row: SpendingInputRow, index: number): RestInputJson {
  const exists = transaction.is_accepted || row.is_previous_accepted;
  return {
    transactionId: transaction.transaction_id,
    index,
    signatureScript: row.signature_script,
    sequence: row.sequence,
    sigOpCount: row.sig_op_count,
    ...(hasComputeBudgets(transaction) && { computeBudget: row.compute_budget }),
    previousOutput: {
      transactionId: row.previous_transaction_id,
      index: Number(row.previous_index),
      amount: exists ? row.amount : null,
      scriptPublicKey: exists ? row.script : null,
      scriptPublicKeyAddress: exists ? row.address : null,
      scriptPublicKeyType: exists ? row.type : null,
    },
  };
}

function toOutput(transactionId: string, row: OutputRow, index: number, spentBy: string | null): RestOutputJson {
  const covenant = toCovenant(row);
  return {
    transactionId,
    index,
    amount: row.amount,
    scriptPublicKey: row.script,
    scriptPublicKeyAddress: row.address,
    scriptPublicKeyType: row.type,
    ...(covenant && { covenant }),
    spentBy,
  };
}
