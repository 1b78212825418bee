/** Reads the blocks that were written since the last read, for streams at the sink. */
import { dagBlockFields, type DagBlockJson, joinMerging, jsonArray, jsonObject } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';

/** About half a megabyte. */
const MAX_BLOCKS = 500;

export interface NewBlocks {
  /** Oldest first. */
  blocks: DagBlockJson[];
  hasMore: boolean;
  /** Key of the last block that was read. */
  last: bigint | undefined;
}

/** The content of a statement. */
export interface NewBlocksJson {
  blocks: DagBlockJson[];
  /** Without new blocks, the key of the last one that is there. */
  last: string | null;
}

/** @param last key of the last block that was read; null for none: then no block is new */
export const selectNewBlocks = (last: RawBuilder<bigint>): RawBuilder<unknown> =>
  sql`select * from blocks where id > ${last} order by id limit ${sql.lit(MAX_BLOCKS)}`;

/** The content of the table `new_blocks`. */
export const newBlocks = jsonBuildObject({
  blocks: jsonArray(
    jsonObject<DagBlockJson>(dagBlockFields),
    sql`from new_blocks block ${joinMerging} order by block.id`,
  ),
  last: sql<string | null>`coalesce((select max(id) from new_blocks), (select max(id) from blocks))::text`,
}) as RawBuilder<NewBlocksJson>;

export const toNewBlocks = ({ blocks, last }: NewBlocksJson = { blocks: [], last: null }): NewBlocks => ({
  blocks,
  hasMore: blocks.length === MAX_BLOCKS,
  last: last === null ? undefined : BigInt(last),
});
