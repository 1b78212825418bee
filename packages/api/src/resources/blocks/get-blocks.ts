/** getBlocks: blocks from a low block upwards, a page at a time, in the selection and order of the node. */
import { sql } from 'kysely';
import { z } from 'zod';
import { anyOf, type Db, hex } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { block } from '../../schemas/block.ts';
import { flag, hash, hashOrEmptyInput } from '../../schemas/values.ts';
import { getPathToChain, type PathToChain } from '../chain/path-to-chain.ts';
import { cannotCross, type Gap, gapAbove, getFirstBlockHash, listGaps } from '../chain/segments.ts';
import { listMasses, loadBlocks } from './load-blocks.ts';

/** Total compute mass of the transactions of a response: about 16,000 ordinary transactions, or 50 MB of JSON. */
const MAX_MASS = 32_000_000;

const body = z
  .strictObject({
    lowHash: hashOrEmptyInput
      .optional()
      .meta({ description: 'First block of the page; the first indexed block by default, or if empty' }),
    includeBlocks: flag,
    includeTransactions: flag.meta({ description: 'Requires `includeBlocks`' }),
  })
  .refine((request) => request.includeBlocks || !request.includeTransactions, {
    path: ['includeTransactions'],
    message: 'requires includeBlocks',
  });

const blocks = z.object({
  blockHashes: z.array(hash).meta({ description: '`lowHash` first' }),
  blocks: z.array(block).meta({ description: 'In the order of `blockHashes`; empty without `includeBlocks`' }),
});

/** Returns hashes in the order of the ids. */
async function listHashes(db: Db, ids: readonly bigint[]): Promise<string[]> {
  const rows = await db
    .selectFrom('blocks')
    .select(['id', hex('hash').as('hash')])
    .where('id', '=', anyOf(ids))
    .execute();
  const hashes = new Map(rows.map((row) => [row.id, row.hash]));
  return ids.map((id) => hashes.get(id) as string);
}

/** Returns the longest prefix with at most MAX_MASS that ends with a chain block, or the shortest one. */
async function withinMass(db: Db, { ids, shorterLengths }: SelectedBlocks): Promise<bigint[]> {
  const rows = await listMasses(db, ids);
  const massOf = new Map(rows.map((row) => [row.block_id, Number(row.mass)]));
  let mass = 0;
  const tooLong = ids.findIndex((id) => (mass += massOf.get(id) ?? 0) > MAX_MASS);
  if (tooLong === -1) return [...ids];
  const length = shorterLengths.findLast((shorter) => shorter <= tooLong) ?? shorterLengths[0];
  return ids.slice(0, length);
}

/** Blocks of a response without the low block and the last chain block: the mergeset limit of the node plus one. */
const MAX_MERGED = 249;
/** Every mergeset has at least one block, so that one read is mostly enough. */
const CHAIN_BLOCKS_PER_READ = 250n;

interface SelectedBlocks {
  /** In the order of the response. */
  ids: bigint[];
  /** Lengths of shorter responses that end with a chain block, too. Ascending. */
  shorterLengths: number[];
}

/**
 * Selects blocks by the rule of the node: upwards from the highest chain ancestor of the low block, the
 * mergeset of each chain block; then the last of these chain blocks, and at the sink the blocks that the virtual block would merge. Stops at a
 * gap of the index.
 * @throws HttpError 409 if a gap begins right above the low block
 */
async function selectBlocks(reading: Reading, lowHash: Uint8Array): Promise<SelectedBlocks> {
  const { db, state } = reading;
  const path = await getPathToChain(reading, lowHash);
  const gap = gapAbove(await listGaps(reading), path.chainBlock.index);
  if (gap?.after.index === path.chainBlock.index) throw cannotCross(gap);
  const { merged, ends, last } = await collectMergeSets(db, path, gap);
  const ids = [path.startId, ...merged];
  if (last.index > path.chainBlock.index) ids.push(last.id);
  if (last.index === state.sinkChainIndex) ids.push(...state.virtualMergeSet.filter((id) => id !== path.startId));
  // A mergeset is followed by its chain block, which is the selected parent of the next one.
  const shorterLengths = ends.filter(({ id, length }) => merged[length] === id).map(({ length }) => length + 2);
  return { ids, shorterLengths };
}

interface ChainBlock {
  id: bigint;
  index: bigint;
}

/** Number of blocks merged up to a chain block. */
interface MergedEnd {
  id: bigint;
  length: number;
}

/** Collects mergesets upwards from the chain block of the path as far as they fit, without the low block and its past. */
async function collectMergeSets(
  db: Db,
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

/** Lists mergesets of chain blocks above an index, up to the gap: selected parent first, then ascending by blue work and hash. */
async function listMergeSets(db: Db, aboveIndex: bigint, gap: Gap | undefined): Promise<MergeSetRow[]> {
  const end = aboveIndex + CHAIN_BLOCKS_PER_READ;
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

async function readBlocks(reading: Reading, request: z.infer<typeof body>): Promise<z.infer<typeof blocks>> {
  const { db } = reading;
  const selected = await selectBlocks(reading, request.lowHash ?? (await getFirstBlockHash(db)));
  const ids = request.includeTransactions ? await withinMass(db, selected) : selected.ids;
  if (!request.includeBlocks) return { blockHashes: await listHashes(db, ids), blocks: [] };
  const found = await loadBlocks(reading, ids, request.includeTransactions);
  return { blockHashes: found.map(({ header }) => header.hash), blocks: found };
}

export const getBlocks = indexRoute(
  {
    method: 'POST',
    url: '/v1/rpc/getBlocks',
    operationId: 'getBlocks',
    summary: 'About 250 blocks from a low block upwards',
    description:
      'A response with transactions ends earlier, with a chain block as always, if they have more than 32,000,000 of compute mass together. A response ends before a gap of the index; a request from the last block before a gap is a 409 that names the first block after it. Blocks before the first indexed block, or in a gap, appear only as hashes of parents and in mergesets.',
    tag: 'Node RPC Proxy',
    cost: 0.5,
    body,
    response: blocks,
    errors: [404, 409],
  },
  (reading, { body }) => readBlocks(reading, body),
);
