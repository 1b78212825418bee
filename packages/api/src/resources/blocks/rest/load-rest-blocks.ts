/** REST blocks by key. */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { anyOf, hex, hexOrNull, text } from '../../../index-state/sql.ts';
import type { RestBlockJson } from './schemas.ts';

export type RestBlockRow = Awaited<ReturnType<typeof listRestBlocks>>[number];

/** In no order, unknown keys left out. A block's transactions are numbered without holes: the last number tells how many they are. */
export function listRestBlocks(db: Kysely<Database>, ids: readonly bigint[]) {
  return db
    .selectFrom('blocks as block')
    .leftJoin('blocks as merging', 'merging.id', 'block.merging_block_id')
    .select((eb) => [
      'block.id',
      hex('block.hash').as('hash'),
      text('block.blue_score').as('blue_score'),
      text('block.daa_score').as('daa_score'),
      'block.timestamp',
      'block.is_chain_block',
      'block.is_blue',
      hexOrNull('merging.hash').as('merging_block_hash'),
      text('merging.blue_score').as('merging_block_blue_score'),
      eb
        .selectFrom('block_transactions as contained')
        .select(sql<number>`contained.index + 1`.as('count'))
        .whereRef('contained.block_id', '=', 'block.id')
        .orderBy('contained.index', 'desc')
        .limit(1)
        .as('transaction_count'),
    ])
    .where('block.id', '=', anyOf(ids))
    .execute();
}

export function toRestBlock(row: RestBlockRow): RestBlockJson {
  return {
    hash: row.hash,
    blueScore: row.blue_score,
    daaScore: row.daa_score,
    timestamp: Number(row.timestamp),
    isChainBlock: row.is_chain_block,
    color: row.is_blue === null ? null : row.is_blue ? 'blue' : 'red',
    mergingBlockHash: row.merging_block_hash,
    transactionCount: row.transaction_count ?? 0,
  };
}

/** In the order of the ids. */
export async function loadRestBlocks(db: Kysely<Database>, ids: readonly bigint[]): Promise<RestBlockJson[]> {
  const rows = new Map((await listRestBlocks(db, ids)).map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = rows.get(id);
    if (row === undefined) throw new Error(`Block ${id} is missing`);
    return toRestBlock(row);
  });
}
