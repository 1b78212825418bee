/** Follows selected parents from any block down to the chain: the block may have left the chain, or never been on it. */
import { sql } from 'kysely';
import { anyOf, type Db } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { notConnected, unknownItem } from './segments.ts';

/** A block between the start of the path and the chain. */
interface OffChainBlock {
  id: bigint;
  hash: string;
  blueScore: bigint;
  /** Its mergeset, blues before reds. The mergesets of the path are the past of its start without that of the chain block. */
  mergeSet: readonly bigint[];
}

export interface PathToChain {
  startId: bigint;
  /** From the start downwards; empty if the start is on the chain. */
  offChain: readonly OffChainBlock[];
  /** The highest chain block among the start and its ancestors by selected parents. */
  chainBlock: { id: bigint; index: bigint; blueWork: string };
}

/** @throws HttpError 404 if the block is unknown, 409 if it is before the first indexed block or in a gap */
export async function getPathToChain(reading: Reading, startHash: Uint8Array): Promise<PathToChain> {
  const rows = await findPath(reading.db, startHash);
  const [start] = rows;
  if (start === undefined) {
    const isKnown = await isPreBootstrapBlock(reading.db, startHash);
    throw isKnown ? await notConnected(reading) : await unknownItem(reading, 'block');
  }
  const last = rows.at(-1);
  if (last?.chain_index == null) throw await notConnected(reading);
  return {
    startId: start.id,
    offChain: rows.slice(0, -1).map((row) => ({
      id: row.id,
      hash: row.hash,
      blueScore: row.blue_score,
      mergeSet: [...row.merge_set_blues, ...row.merge_set_reds],
    })),
    chainBlock: { id: last.id, index: last.chain_index, blueWork: last.blue_work },
  };
}

interface PathRow {
  id: bigint;
  hash: string;
  blue_score: bigint;
  blue_work: string;
  merge_set_blues: bigint[];
  merge_set_reds: bigint[];
  chain_index: bigint | null;
}

/** Lists the start and its selected ancestors down to the chain. Only the last row may have a chain_index. */
async function findPath(db: Db, startHash: Uint8Array): Promise<PathRow[]> {
  const { rows } = await sql<PathRow>`
    with recursive path as (
      select id, selected_parent_id, is_chain_block, 0 as depth from blocks where hash = ${startHash}
      union all
      select below.id, below.selected_parent_id, below.is_chain_block, path.depth + 1
      from path join blocks below on below.id = path.selected_parent_id
      where not path.is_chain_block
    )
    select b.id, encode(b.hash, 'hex') as hash, b.blue_score, b.blue_work, b.merge_set_blues, b.merge_set_reds, c.index as chain_index
    from path
    join blocks b on b.id = path.id
    left join chain_blocks c on c.block_id = path.id
    order by path.depth`.execute(db);
  return rows;
}

async function isPreBootstrapBlock(db: Db, hash: Uint8Array): Promise<boolean> {
  const row = await db
    .selectFrom('earlier_blocks')
    .select('id')
    .where('hash', '=', Buffer.from(hash))
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns whether any of these blocks is known by its hash alone. */
export async function includesPreBootstrapBlock(db: Db, ids: readonly bigint[]): Promise<boolean> {
  const row = await db.selectFrom('earlier_blocks').select('id').where('id', '=', anyOf(ids)).executeTakeFirst();
  return row !== undefined;
}
