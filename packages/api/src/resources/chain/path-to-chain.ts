/** Follows selected parents from any block down to the chain: the block may have left the chain, or never been on it. */
import { sql } from 'kysely';
import type { Db } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { notConnected, unknownItem } from './segments.ts';

interface PathBlock {
  id: bigint;
  hash: string;
  blueScore: bigint;
  blueWork: string;
  /** Blues before reds. */
  mergeSet: readonly bigint[];
  /** Only the last block of the path may be on the chain. */
  index: bigint | null;
}

export interface PathToChain {
  startId: bigint;
  /**
   * From the start downwards; empty if the start is on the chain. The mergesets are the past of the start without that of the chain block.
   */
  offChain: readonly PathBlock[];
  /** The highest chain block among the start and its ancestors by selected parents. */
  chainBlock: PathBlock & { index: bigint };
}

/** @throws HttpError 404 if the block is unknown, 409 if it is before the first indexed block or in a gap */
export async function getPathToChain(reading: Reading, startHash: Uint8Array): Promise<PathToChain> {
  const path = await listPath(reading.db, startHash);
  const [start] = path;
  if (start === undefined) {
    const isKnown = await isPreBootstrap(reading.db, { hash: startHash });
    throw isKnown ? await notConnected(reading) : await unknownItem(reading, 'block');
  }
  const last = path.pop() as PathBlock;
  if (last.index === null) throw await notConnected(reading);
  return { startId: start.id, offChain: path, chainBlock: { ...last, index: last.index } };
}

/** Lists the start and its selected ancestors down to the chain. */
async function listPath(db: Db, startHash: Uint8Array): Promise<PathBlock[]> {
  const { rows } = await sql<PathBlock>`
    with recursive path as (
      select id, selected_parent_id, is_chain_block, 0 as depth from blocks where hash = ${startHash}
      union all
      select below.id, below.selected_parent_id, below.is_chain_block, path.depth + 1
      from path join blocks below on below.id = path.selected_parent_id
      where not path.is_chain_block
    )
    select b.id, encode(b.hash, 'hex') as hash, b.blue_score as "blueScore", b.blue_work as "blueWork",
      b.merge_set_blues || b.merge_set_reds as "mergeSet", c.index
    from path
    join blocks b on b.id = path.id
    left join chain_blocks c on c.block_id = path.id
    order by path.depth`.execute(db);
  return rows;
}

/** Returns whether the block with a hash, or any block with these ids, is known by its hash alone. */
export async function isPreBootstrap(
  db: Db,
  block: { hash: Uint8Array } | { ids: readonly bigint[] },
): Promise<boolean> {
  const condition = 'hash' in block ? sql`hash = ${block.hash}` : sql`id = any(${block.ids}::bigint[])`;
  const { rows } = await sql`select from earlier_blocks where ${condition} limit 1`.execute(db);
  return rows.length > 0;
}
