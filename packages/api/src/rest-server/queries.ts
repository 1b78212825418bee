/** Statements that the forms of kaspa-rest-server need beyond those of this API. */
import { SOMPI_PER_KAS } from '@kasgres/kaspa';
import { type Db, hasTransactionId, jsonArray, jsonObject, type ParameterOf, Statement } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { transactionCountOf } from '../resources/addresses/transaction-count.ts';
import { pageOfIds } from '../resources/transactions/rest/routes.ts';
import { restTransactions, unlessTooLarge } from '../resources/transactions/rest/select-transactions.ts';
import { exact, type TimedTransaction } from './forms.ts';

const isWithin = sql<true>`'true'::json`;

/** Selects the transactions of `page`. @param items limits and orders the rows of `page` */
export const timedTransactions = (items: RawBuilder<unknown>): RawBuilder<TimedTransaction[]> =>
  restTransactions<Pick<TimedTransaction, 'acceptingBlockTime'>>(items, {
    includePayload: true,
    withSpentCovenants: true,
    more: { acceptingBlockTime: sql`accepting.timestamp` },
  }).$castTo<TimedTransaction[]>();

/**
 * Selects the transactions with these ids in the given order, without unknown ones. The first
 * catch-up must have finished.
 */
export const transactionsByIds = new Statement(
  'transactions of rest-server',
  (parameter: ParameterOf<{ ids: readonly Uint8Array[] }>) =>
    unlessTooLarge(
      { includePayload: true },
      {
        tables: { page: pageOfIds(parameter('ids', 'bytea[]')) },
        body: jsonBuildObject({ transactions: timedTransactions(sql`order by page.position`) }),
      },
    ),
);

/** Finds out whether the transactions with these ids are too large together. */
export const totalSize = new Statement(
  'size of rest-server',
  (parameter: ParameterOf<{ ids: readonly Uint8Array[] }>) =>
    unlessTooLarge(
      { includePayload: true },
      { tables: { page: pageOfIds(parameter('ids', 'bytea[]')) }, body: isWithin },
    ),
);

/** Finds out the same of the transactions of blocks. */
export const totalSizeOfBlocks = new Statement(
  'size of blocks of rest-server',
  (parameter: ParameterOf<{ hashes: readonly Uint8Array[] }>) =>
    unlessTooLarge(
      { includePayload: true },
      {
        tables: {
          page: sql`
          select contained.transaction_id as key
            from unnest(${parameter('hashes', 'bytea[]')}) as requested (hash)
          join blocks on blocks.hash = requested.hash
            join block_transactions contained on contained.block_id = blocks.id`,
        },
        body: isWithin,
      },
    ),
);

export interface TransactionCount {
  timestamp: number;
  dateTime: string;
  coinbase: number;
  regular: number;
}

/** Counts by hour of a range. @param from Unix milliseconds */
export async function countTransactions(db: Db, from: number, to: number): Promise<TransactionCount[]> {
  const { rows } = await sql<{ start: bigint; coinbase: bigint; regular: bigint }>`
    select start, chain_blocks as coinbase, transactions as regular from network_intervals
    where length = 'hour' and start >= ${from} and start < ${to} order by start`.execute(db);
  return rows.map(({ start, coinbase, regular }) => ({
    timestamp: Number(start),
    dateTime: new Date(Number(start)).toISOString(),
    coinbase: Number(coinbase),
    regular: Number(regular),
  }));
}

/** Returns when the first hour of the index begins, in Unix milliseconds. */
export async function findFirstHour(db: Db): Promise<number> {
  const { rows } = await sql<{ start: bigint }>`
    select start from network_intervals where length = 'hour' order by start limit 1`.execute(db);
  return Number(rows[0]?.start ?? Number.POSITIVE_INFINITY);
}

export async function countAllTransactions(db: Db): Promise<{ coinbase: number; regular: number; time: number }> {
  const { rows } = await sql<{ coinbase: bigint; regular: bigint; time: bigint }>`
    select coalesce(sum(chain_blocks), 0)::bigint as coinbase,
      coalesce(sum(transactions), 0)::bigint as regular,
      (select timestamp from chain_blocks
        where index = (select chain_index from checkpoint)) as time
    from network_intervals where length = 'day'`.execute(db);
  const [row] = rows;
  return {
    coinbase: Number(row?.coinbase ?? 0),
    regular: Number(row?.regular ?? 0),
    time: Number(row?.time ?? 0),
  };
}

const RICHEST = 1000;

/** Amounts are whole KAS. */
export const richestAddresses = new Statement('richest addresses of rest-server', () => ({
  body: jsonArray(
    jsonObject<{ timestamp: number; ranking: { rank: number; address: string; amount: number }[] }>({
      timestamp: sql`sink.timestamp`,
      ranking: jsonArray(
        jsonObject<{ rank: number; address: string; amount: number }>({
          rank: sql`richest.position - 1`,
          address: sql`richest.address`,
          amount: sql`richest.balance / ${sql.lit(SOMPI_PER_KAS)}`,
        }),
        sql`
          from (
            select top.*, row_number() over (order by top.balance desc,
              top.script_id desc) as position
            from (
              select b.script_id, b.balance, s.address from balances b
                join scripts s on s.id = b.script_id
              where b.balance > 0 and s.address is not null
              order by b.balance desc, b.script_id desc limit ${sql.lit(RICHEST)}) top) richest
          order by richest.position`,
      ),
    }),
    sql`from checkpoint join blocks sink on sink.id = checkpoint.block_id`,
  ),
}));

export async function listTiers(db: Db): Promise<{ tier: number; count: number; amount: number }[]> {
  const { rows } = await sql<{ tier: number; addresses: bigint; balance: string }>`
    select tier, addresses, balance::text as balance from balance_tiers where addresses > 0
      order by tier`.execute(db);
  return rows.map(({ tier, addresses, balance }) => ({
    tier,
    count: Number(addresses),
    amount: Math.round(Number(balance) / 1e8),
  }));
}

export interface AcceptanceRow {
  id: string;
  accepted: boolean;
  hash: string | null;
  blueScore: bigint | null;
  timestamp: bigint | null;
}

export async function listAcceptance(db: Db, ids: readonly string[]): Promise<AcceptanceRow[]> {
  const { rows } = await sql<AcceptanceRow>`
    select asked.id, c.index is not null or is_pre_bootstrap_id(asked.id) as accepted,
      encode(c.hash, 'hex') as hash, c.blue_score as "blueScore", c.timestamp
    from unnest(${ids}::text[]) with ordinality asked (id, n)
    left join transactions t on ${hasTransactionId('t', sql`decode(asked.id, 'hex')`)}
    left join chain_blocks c on c.index = t.accepting_index
    order by asked.n`.execute(db);
  return rows;
}

interface UtxoRow {
  address: string;
  id: string;
  index: number;
  amount: string;
  script: string;
  blockDaaScore: string;
  isCoinbase: boolean;
}

const MAX_UTXOS = 10_000;

export async function listUtxos(db: Db, addresses: readonly string[]): Promise<UtxoRow[]> {
  const { rows } = await sql<UtxoRow>`
    with newest as materialized (
      select s.address, s.script, held.* from scripts s cross join lateral (
        select transaction_id, index, amount, block_daa_score, is_coinbase from utxos
        where script_id = s.id order by transaction_id desc, index desc limit ${MAX_UTXOS}) held
      where s.address = any(${addresses}::text[]) order by held.transaction_id desc, held.index desc
        limit ${MAX_UTXOS})
    select u.address,
      encode(coalesce(
        t.transaction_id,
        (select e.transaction_id from pre_bootstrap_transactions e where e.id = u.transaction_id)
      ), 'hex') as id, u.index, u.amount::text as amount,
      encode(u.script, 'hex') as script, u.block_daa_score::text as "blockDaaScore",
      u.is_coinbase as "isCoinbase"
    from newest u
    left join lateral (select transaction_id from transactions where id = u.transaction_id
      limit 1) t on true
    order by u.transaction_id desc, u.index desc`.execute(db);
  return rows;
}

export async function listBalances(
  db: Db,
  addresses: readonly string[],
): Promise<{ address: string; balance: number }[]> {
  const { rows } = await sql<{ address: string; balance: string }>`
    select asked.address, coalesce(b.balance, 0)::text as balance
    from unnest(${addresses}::text[]) with ordinality asked (address, n)
    left join scripts s on s.address = asked.address left join balances b on b.script_id = s.id
      order by asked.n`.execute(db);
  return rows.map(({ address, balance }) => ({ address, balance: exact(balance) }));
}

export async function countTransactionsOf(db: Db, address: string): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select ${transactionCountOf(sql`b.transaction_count`, sql`s.id`)} as count
      from scripts s left join balances b on b.script_id = s.id
        where s.address = ${address}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

const MAX_NAMES = 10_000;

export async function listNames(db: Db, address?: string): Promise<{ address: string; name: string }[]> {
  const { rows } = await sql<{ address: string; name: string }>`
    select address, name from tags ${address === undefined ? sql`` : sql`where address = ${address}`}
    order by address limit ${MAX_NAMES}`.execute(db);
  return rows;
}

type BlueScoreCondition = 'blueScore' | 'blueScoreGte' | 'blueScoreLt';

/**
 * Lists the blocks with a blue score, or with the nearest one at or above it, or below it. The
 * chain block is the first one.
 */
export async function listBlocksAt(db: Db, condition: BlueScoreCondition, blueScore: bigint): Promise<string[]> {
  const nearest = {
    blueScore: sql`${blueScore}::bigint`,
    blueScoreGte: sql`(select blue_score from blocks where blue_score >= ${blueScore} order by blue_score limit 1)`,
    blueScoreLt: sql`(select blue_score from blocks where blue_score < ${blueScore} order by blue_score desc limit 1)`,
  }[condition];
  const { rows } = await sql<{ hash: string }>`
    select encode(hash, 'hex') as hash from blocks where blue_score = ${nearest}
      order by is_chain_block desc, id limit 100`.execute(db);
  return rows.map(({ hash }) => hash);
}

export interface AcceptingBlock {
  hash: string;
  blueScore: number;
  daaScore: number;
  timestamp: number;
  /** Ids of accepted transactions, in the order of the node. */
  ids: string[];
}

/** Lists the chain blocks within blue scores. @param end exclusive */
export async function listChainBlocks(db: Db, start: number, end: number): Promise<AcceptingBlock[]> {
  const { rows } = await sql<AcceptingBlock>`
    select encode(c.hash, 'hex') as hash, c.blue_score::float8 as "blueScore",
      c.daa_score::float8 as "daaScore", c.timestamp::float8 as timestamp, accepted.ids
    from blocks b
    join chain_blocks c on c.block_id = b.id
    cross join lateral (
      select coalesce(array_agg(encode(t.transaction_id, 'hex') order by a.n), '{}') as ids
      from unnest(c.accepted_transactions) with ordinality a (id, n)
        join transactions t on t.id = a.id
    ) accepted
    where b.blue_score >= ${start} and b.blue_score < ${end} and b.is_chain_block
    order by b.blue_score`.execute(db);
  return rows;
}

export async function countUtxosOf(db: Db, address: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select utxo_count as count from balances
      where script_id = (select id from scripts where address = ${address})`.execute(db);
  return rows[0]?.count ?? 0;
}

interface Activity {
  address: string;
  active: boolean;
  /** Unix milliseconds, of the chain. */
  lastTxBlockTime: number | null;
}

export async function listLastSeen(db: Db, addresses: readonly string[]): Promise<Activity[]> {
  const { rows } = await sql<Activity>`
    select asked.address, b.last_seen is not null as active,
      b.last_seen::float8 as "lastTxBlockTime"
    from unnest(${addresses}::text[]) with ordinality asked (address, n)
    left join scripts s on s.address = asked.address left join balances b on b.script_id = s.id
      order by asked.n`.execute(db);
  return rows;
}
