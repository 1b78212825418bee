/**
 * Which blocks getBlocks answers with, and in which order: the node's rule (API.md, "Where each answer comes from"). From the highest
 * chain ancestor of the low block upwards, each chain block gives its mergeset; then comes the last of these chain blocks itself, and
 * at the sink what the virtual block would merge besides. An answer ends before a gap of the index.
 */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import type { Reading } from '../../index-state/state.ts';
import { type Gap, gapAbove, gapInTheWay, listGaps } from '../chain/parts.ts';
import { getPathToChain, type PathToChain } from '../chain/path-to-chain.ts';

/** Hashes of an answer, without the low block and the last chain block: the node's mergeset limit and one. */
const MAX_MERGED = 249;
/** Every mergeset has a block at least, so that one read is enough unless much of them is left out. */
const CHAIN_BLOCKS_A_READ = 250n;

export interface SelectedBlocks {
  /** In the order of the response. */
  ids: bigint[];
  /** How many of them a shorter response may have: it ends with a chain block, as the whole one does. Ascending. */
  shorterLengths: number[];
}

/** @throws HttpError 409 when all that is above the low block is behind a gap */
export async function selectBlocks(reading: Reading, lowHash: Uint8Array): Promise<SelectedBlocks> {
  const { db, state } = reading;
  const path = await getPathToChain(reading, lowHash);
  const gap = gapAbove(await listGaps(reading), path.chainBlock.index);
  if (gap?.after.index === path.chainBlock.index) throw gapInTheWay(gap);
  const { merged, ends, last } = await collectMergeSets(db, path, gap);
  const ids = [path.startId, ...merged];
  if (last.index > path.chainBlock.index) ids.push(last.id);
  if (last.index === state.sinkChainIndex) ids.push(...state.virtualMergeSet.filter((id) => id !== path.startId));
  // Behind a mergeset comes its chain block, as the selected parent of the next one.
  const shorterLengths = ends.filter(({ id, length }) => merged[length] === id).map(({ length }) => length + 2);
  return { ids, shorterLengths };
}

interface ChainBlock {
  id: bigint;
  index: bigint;
}

/** How much was merged up to a chain block. */
interface MergedEnd {
  id: bigint;
  length: number;
}

/** Mergesets upwards from the chain block of the path as far as they fit, without the low block and its past; and how far that was. */
async function collectMergeSets(
  db: Kysely<Database>,
  path: PathToChain,
  gap: Gap | undefined,
): Promise<{ merged: bigint[]; ends: MergedEnd[]; last: ChainBlock }> {
  const excluded = new Set([path.startId, ...path.offChain.flatMap((block) => block.mergeSet)]);
  const merged: bigint[] = [];
  const ends: MergedEnd[] = [];
  let last: ChainBlock = path.chainBlock;
  for (;;) {
    const mergeSets = await listMergeSets(db, last.index, gap);
    if (mergeSets.length === 0) return { merged, ends, last };
    for (const { id, index, merge_set } of mergeSets) {
      if (merged.length + merge_set.length > MAX_MERGED) return { merged, ends, last };
      merged.push(...merge_set.filter((block) => !excluded.has(block)));
      last = { id, index };
      ends.push({ id, length: merged.length });
    }
  }
}

interface MergeSetRow {
  id: bigint;
  index: bigint;
  merge_set: bigint[];
}

/** The mergesets of the chain blocks above an index, as far as the gap if any: selected parent first, then ascending by blue work and hash. */
async function listMergeSets(db: Kysely<Database>, aboveIndex: bigint, gap: Gap | undefined): Promise<MergeSetRow[]> {
  const end = aboveIndex + CHAIN_BLOCKS_A_READ;
  const highest = gap !== undefined && gap.after.index < end ? gap.after.index : end;
  const { rows } = await sql<MergeSetRow>`
    select c.block_id as id, c.index, array_agg(m.id order by m.id = b.selected_parent_id desc, m.blue_work, m.hash) as merge_set
    from chain_blocks c
    join blocks b on b.id = c.block_id
    join blocks m on m.id = any(b.merge_set_blues || b.merge_set_reds)
    where c.index > ${aboveIndex} and c.index <= ${highest}
    group by c.index, c.block_id
    order by c.index`.execute(db);
  return rows;
}
