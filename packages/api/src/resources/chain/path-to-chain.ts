/**
 * From any block down its selected parents to the virtual chain: a start hash may be a block that left the chain, or was never on it.
 */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import type { Reading } from '../../index-state/state.ts';
import { notConnected, unknown } from './parts.ts';

/** A block between the start and the chain, itself not on the chain. */
export interface OffChainBlock {
  id: bigint;
  hash: string;
  blueScore: bigint;
  /** Its own mergeset, blues before reds: with the others of the path, all of the start's past that is not below the chain block. */
  mergeSet: readonly bigint[];
}

export interface PathToChain {
  startId: bigint;
  /** From the start downwards; empty when the start is on the chain. */
  offChain: readonly OffChainBlock[];
  /** The highest chain block among the start and its ancestors by selected parents. */
  chainBlock: { id: bigint; index: bigint; blueWork: string };
}

/**
 * @throws HttpError 404 when the block is unknown, 409 when it is before what is indexed, or in a gap
 */
export async function getPathToChain(reading: Reading, startHash: Uint8Array): Promise<PathToChain> {
  const rows = await findPath(reading.db, startHash);
  const [start] = rows;
  if (start === undefined) {
    throw (await isEarlierBlock(reading.db, startHash)) ? await notConnected(reading) : await unknown(reading, 'block');
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

/** The start, its selected parent and so on, until one is on the chain (only the last row has a chain_index) or nothing is below. */
async function findPath(db: Kysely<Database>, startHash: Uint8Array): Promise<PathRow[]> {
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

/** Whether a block is known by its hash alone. */
async function isEarlierBlock(db: Kysely<Database>, hash: Uint8Array): Promise<boolean> {
  const row = await db
    .selectFrom('earlier_blocks')
    .select('id')
    .where('hash', '=', Buffer.from(hash))
    .executeTakeFirst();
  return row !== undefined;
}
