/** GET /v1/blocks/{hash}, getBlock, and blocks in the form of listings: with their position relative to the chain. */
import { sql } from 'kysely';
import { z } from 'zod';
import { anyOf, type Db, hex, hexOrNull, text } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { queryFlag } from '../../pages/page-query.ts';
import { indexRoute } from '../../route.ts';
import { block, type BlockJson } from '../../schemas/block.ts';
import { count, decimal, flag, hash, hashInput, timestamp } from '../../schemas/values.ts';
import { unknownItem } from '../chain/segments.ts';
import { indexRows, lookUp, rpc } from '../shared.ts';
import { loadBlocks } from './load-blocks.ts';

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

/** The last index gives the number of transactions. A block becomes effective with itself, if it is on the chain, or with its merging block. */
function listRestBlocks(db: Db, ids: readonly bigint[]) {
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

function toRestBlock({ id: _id, effectiveBlueScore: _score, ...block }: RestBlockRow): z.infer<typeof restBlock> {
  return block;
}

/** Returns blocks in the order of the ids. */
export async function loadRestBlocks(db: Db, ids: readonly bigint[]): Promise<z.infer<typeof restBlock>[]> {
  const rowOf = indexRows('block', await listRestBlocks(db, ids));
  return ids.map((id) => toRestBlock(rowOf(id)));
}

const blockDetails = z
  .object({
    ...block.shape,
    ...restBlock.shape,
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the block, if it is a chain block, else of its merging block; 0 if not merged',
    }),
  })
  .meta({ id: 'BlockDetails' });

async function loadBlock(reading: Reading, hash: Uint8Array, withTransactions: boolean) {
  const id = await findBlockId(reading.db, hash);
  if (id === undefined) throw unknownItem(reading.state, 'block');
  const [block] = await loadBlocks(reading, [id], withTransactions);
  return { id, block: block as BlockJson };
}

export const getBlockDetails = indexRoute(
  {
    ...lookUp('Block', '/v1/blocks/:hash', 'getBlockDetails'),
    summary: 'One block by its hash, with its position relative to the chain',
    params: z.strictObject({ hash: hashInput }),
    query: z.strictObject({
      include_transactions: queryFlag.meta({ description: 'Include whole transactions, not only their ids' }),
    }),
    response: z.object({ block: blockDetails }),
    errors: [404],
  },
  async (reading, { params, query }) => {
    const { id, block } = await loadBlock(reading, params.hash, query.include_transactions);
    const row = indexRows('block', await listRestBlocks(reading.db, [id]))(id);
    const { sinkBlueScore } = reading.state;
    const confirmations = Number(sinkBlueScore - (row.effectiveBlueScore ?? sinkBlueScore));
    return { block: { ...block, ...toRestBlock(row), confirmations } };
  },
);

export const getBlock = indexRoute(
  {
    ...rpc('POST', 'getBlock'),
    summary: 'One block by its hash',
    tagOf: 'content',
    body: z.strictObject({ hash: hashInput, includeTransactions: flag }),
    response: z.object({ block }),
    errors: [404],
  },
  async (reading, { body }) => {
    const { block } = await loadBlock(reading, body.hash, body.includeTransactions);
    return { block };
  },
);
