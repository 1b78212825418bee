/** Blocks in the form of listings and look-ups: with their position relative to the chain. */
import { sql } from 'kysely';
import { z } from 'zod';
import { anyOf, type Db, hex, hexOrNull, text } from '../../index-state/sql.ts';
import { count, decimal, hash, timestamp } from '../../schemas/values.ts';
import { indexRows } from '../shared.ts';

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

export async function findBlockId(db: Db, hash: Uint8Array): Promise<bigint | undefined> {
  const row = await db.selectFrom('blocks').select('id').where('hash', '=', Buffer.from(hash)).executeTakeFirst();
  return row?.id;
}

type RestBlockRow = Awaited<ReturnType<typeof listRestBlocks>>[number];

/**
 * Lists blocks in any order. The transactions of a block are numbered without holes, so the last index gives their number. A block became
 * effective with itself, if it is on the chain, or with its merging block.
 */
export function listRestBlocks(db: Db, ids: readonly bigint[]) {
  return db
    .selectFrom('blocks as block')
    .leftJoin('blocks as merging', 'merging.id', 'block.merging_block_id')
    .select([
      'block.id',
      hex('block.hash').as('hash'),
      text('block.blue_score').as('blueScore'),
      text('block.daa_score').as('daaScore'),
      sql<number>`block.timestamp::float8`.as('timestamp'),
      'block.is_chain_block as isChainBlock',
      sql<'blue' | 'red' | null>`case when block.is_blue then 'blue' when not block.is_blue then 'red' end`.as('color'),
      hexOrNull('merging.hash').as('mergingBlockHash'),
      sql<number>`coalesce((
        select contained.index + 1 from block_transactions contained
        where contained.block_id = block.id order by contained.index desc limit 1), 0)`.as('transactionCount'),
      sql<bigint | null>`case when block.is_chain_block then block.blue_score else merging.blue_score end`.as(
        'effectiveBlueScore',
      ),
    ])
    .where('block.id', '=', anyOf(ids))
    .execute();
}

export function toRestBlock({
  id: _id,
  effectiveBlueScore: _score,
  ...block
}: RestBlockRow): z.infer<typeof restBlock> {
  return block;
}

/** Returns blocks in the order of the ids. */
export async function loadRestBlocks(db: Db, ids: readonly bigint[]): Promise<z.infer<typeof restBlock>[]> {
  const rowOf = indexRows(await listRestBlocks(db, ids));
  return ids.map((id) => toRestBlock(rowOf(id)));
}
