/** Blocks in the form of listings and look-ups: with their position relative to the chain. */
import { sql } from 'kysely';
import { z } from 'zod';
import { anyOf, type Db, hex, hexOrNull, text } from '../../index-state/sql.ts';
import { block } from '../../schemas/block.ts';
import { count, decimal, hash, timestamp } from '../../schemas/values.ts';

export const restBlock = z
  .object({
    hash,
    blueScore: decimal,
    daaScore: decimal,
    timestamp: timestamp.meta({ description: 'Unix time in milliseconds, set by the miner' }),
    isChainBlock: z.boolean().meta({ description: 'Whether it is on the virtual selected parent chain now' }),
    color: z
      .enum(['blue', 'red'])
      .nullable()
      .meta({ description: 'Colour in the mergeset of the merging block; null if not merged' }),
    mergingBlockHash: hash.nullable().meta({
      description: 'The chain block that merges this block; null if not merged, or if that block is in a gap',
    }),
    transactionCount: count,
  })
  .meta({ id: 'RestBlock' });

type RestBlockJson = z.infer<typeof restBlock>;

export const blockDetails = z
  .object({
    ...block.shape,
    ...restBlock.shape,
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the block, if it is a chain block, else of its merging block; 0 if not merged',
    }),
  })
  .meta({ id: 'BlockDetails' });

export async function findBlockId(db: Db, hash: Uint8Array): Promise<bigint | undefined> {
  const row = await db.selectFrom('blocks').select('id').where('hash', '=', Buffer.from(hash)).executeTakeFirst();
  return row?.id;
}

export type RestBlockRow = Awaited<ReturnType<typeof listRestBlocks>>[number];

/** Lists blocks in any order. The transactions of a block are numbered without holes, so the last index gives their number. */
export function listRestBlocks(db: Db, ids: readonly bigint[]) {
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

/** Returns blocks in the order of the ids. */
export async function loadRestBlocks(db: Db, ids: readonly bigint[]): Promise<RestBlockJson[]> {
  const rows = new Map((await listRestBlocks(db, ids)).map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = rows.get(id);
    if (row === undefined) throw new Error(`block ${id} has no row`);
    return toRestBlock(row);
  });
}
