/**
 * From any block down its selected parents to the virtual chain: a start hash may be a block that left the chain, or was never on it.
 */
import type { Database } from '@kasgres/database';
import { fromHex } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import { conflict, notFound } from '../../http/errors.ts';
import { hex } from '../../index-state/sql.ts';

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
 * @throws HttpError 404 when the block is unknown, 409 when it is before what is indexed
 */
export async function getPathToChain(db: Kysely<Database>, startHash: Uint8Array): Promise<PathToChain> {
  const rows = await findPath(db, startHash);
  const [start] = rows;
  if (start === undefined) throw notFound('Unknown block');
  const last = rows.at(-1);
  if (last?.chain_index == null) throw await beforeIndex(db);
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

async function beforeIndex(db: Kysely<Database>): Promise<Error> {
  return conflict(`The block is before what is indexed, which begins with ${await findFirstBlockHash(db)}`);
}

/** Hash of the first indexed chain block. */
export async function findFirstBlockHash(db: Kysely<Database>): Promise<string | undefined> {
  const row = await db
    .selectFrom('chain_blocks')
    .innerJoin('blocks', 'blocks.id', 'chain_blocks.block_id')
    .select(hex('blocks.hash').as('hash'))
    .orderBy('chain_blocks.index')
    .limit(1)
    .executeTakeFirst();
  return row?.hash;
}

/** The same as bytes, where something is indexed. */
export async function getFirstBlockHash(db: Kysely<Database>): Promise<Uint8Array> {
  const hash = await findFirstBlockHash(db);
  if (hash === undefined) throw new Error('The chain has no first block');
  return fromHex(hash);
}
