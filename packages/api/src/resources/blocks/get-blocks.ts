/**
 * getBlocks: blocks from a low block upwards, a page at a time, in the selection and order of the
 * node.
 */
import { fromHex } from '@kasgres/kaspa';
import {
  anyOf,
  block,
  cannotCross,
  type Db,
  findLowestBlock,
  flag,
  type Gap,
  gapAbove,
  getPathToChain,
  hash,
  hashOrEmptyInput,
  hex,
  jsonArray,
  listGaps,
  type Reading,
  readJson,
  type SegmentEnd,
  wholeBlocks,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { toJsonArray } from '../../http/json-array.ts';
import { indexRoute } from '../../openapi/route.ts';
import { rpc } from '../shared.ts';

/**
 * Total compute mass of the transactions of a response: about 16,000 ordinary transactions, or 50
 * MB of JSON.
 */
const MAX_MASS = 32_000_000;
/**
 * One mergeset may have several times as much, of small transactions that anybody can mine. One
 * statement would reach its time limit then.
 */
const MASS_PER_READ = 8_000_000;
/**
 * Blocks of a response without the low block and the last chain block: the mergeset limit of the
 * node plus one.
 */
const MAX_MERGED = 249;
/** Every mergeset has at least one block, so that one read is mostly enough. */
const CHAIN_BLOCKS_PER_READ = 250n;

/**
 * Selects blocks by the rule of the node: upwards from the highest chain ancestor of the low block,
 * the mergeset of each chain block; then the last of these chain blocks, and at the sink the blocks
 * that the virtual block would merge. Stops at a gap of the index.
 * @returns ids in the order of the response, and ascending lengths of shorter responses that end
 * with a chain block, too
 * @throws HttpError 409 if a gap begins right above the low block
 */
async function selectBlocks(reading: Reading, lowHash: Uint8Array) {
  const { db, state } = reading;
  const { startId, offChain, chainBlock } = await getPathToChain(reading, lowHash);
  const gap = gapAbove(await listGaps(reading), chainBlock.index);
  if (gap?.after.index === chainBlock.index) throw cannotCross(gap);
  const excluded = new Set([startId, ...offChain.flatMap((block) => block.mergeSet)]);
  const ids = [startId];
  const shorterLengths: number[] = [];
  let last: { id: bigint; index: bigint } = chainBlock;
  for await (const { merge_set, ...merging } of mergeSetsAbove(db, chainBlock.index, gap)) {
    const { length } = ids;
    if (length - 1 + merge_set.length > MAX_MERGED) break;
    ids.push(...merge_set.filter((id) => !excluded.has(id)));
    // A mergeset is followed by its chain block, which is the selected parent of the next one.
    if (last !== chainBlock && ids[length] === last.id) shorterLengths.push(length + 1);
    last = merging;
  }
  if (last !== chainBlock) ids.push(last.id);
  if (last.index === state.sinkChainIndex) ids.push(...state.virtualMergeSet.filter((id) => id !== startId));
  return { ids, shorterLengths };
}

interface MergeSetRow {
  id: bigint;
  index: bigint;
  merge_set: bigint[];
}

/**
 * Reads the mergesets of chain blocks above an index, up to the gap: selected parent first, then
 * ascending by blue work and hash.
 */
async function* mergeSetsAbove(db: Db, aboveIndex: bigint, gap: Gap | undefined): AsyncGenerator<MergeSetRow> {
  const end = aboveIndex + CHAIN_BLOCKS_PER_READ;
  const highest = gap !== undefined && gap.after.index < end ? gap.after.index : end;
  const { rows } = await sql<MergeSetRow>`
    select c.block_id as id, c.index,
      array_agg(m.id order by m.id = b.selected_parent_id desc, m.blue_work, m.hash) as merge_set
    from chain_blocks c
    join blocks b on b.id = c.block_id
    join blocks m on m.id = any(b.merge_set_blues || b.merge_set_reds)
    where c.index > ${aboveIndex} and c.index <= ${highest}
    group by c.index, c.block_id
    order by c.index`.execute(db);
  yield* rows;
  const last = rows.at(-1);
  if (last !== undefined) yield* mergeSetsAbove(db, last.index, gap);
}

/** Returns the compute mass of the transactions of each block that has some. */
async function findMasses(db: Db, ids: readonly bigint[]): Promise<Map<bigint, number>> {
  const rows = await db
    .selectFrom('block_transactions as contained')
    .innerJoin('transactions', 'transactions.id', 'contained.transaction_id')
    .select(['contained.block_id', sql<string>`sum(transactions.compute_mass)`.as('mass')])
    .where('contained.block_id', '=', anyOf(ids))
    .groupBy('contained.block_id')
    .execute();
  return new Map(rows.map((row) => [row.block_id, Number(row.mass)]));
}

/**
 * Returns the longest prefix with at most MAX_MASS of compute mass that ends with a chain block, or
 * the shortest one.
 */
function withinMass(
  { ids, shorterLengths }: { ids: readonly bigint[]; shorterLengths: readonly number[] },
  masses: ReadonlyMap<bigint, number>,
): readonly bigint[] {
  let mass = 0;
  const tooLong = ids.findIndex((id) => (mass += masses.get(id) ?? 0) > MAX_MASS);
  if (tooLong === -1) return ids;
  return ids.slice(0, shorterLengths.findLast((shorter) => shorter <= tooLong) ?? shorterLengths[0]);
}

/** Splits a page, which has at least one block, into parts of about MASS_PER_READ. */
function partsOf(ids: readonly bigint[], masses: ReadonlyMap<bigint, number>): bigint[][] {
  let part: bigint[] = [];
  const parts = [part];
  let mass = 0;
  for (const id of ids) {
    if (mass > MASS_PER_READ) {
      part = [];
      parts.push(part);
      mass = 0;
    }
    part.push(id);
    mass += masses.get(id) ?? 0;
  }
  return parts;
}

interface PageOfBlocks {
  lowHash?: Uint8Array | undefined;
  includeBlocks: boolean;
  includeTransactions: boolean;
}

/** Returns the JSON of a response. @throws HttpError 404 or 409 if the low block is not indexed */
export async function readBlocks(
  reading: Reading,
  { lowHash, includeBlocks, includeTransactions }: PageOfBlocks,
): Promise<Buffer> {
  const { db } = reading;
  // The checkpoint is a chain block, so there is a lowest one.
  const start = lowHash ?? fromHex(((await findLowestBlock(db)) as SegmentEnd).hash);
  const selected = await selectBlocks(reading, start);
  const masses = includeTransactions ? await findMasses(db, selected.ids) : new Map<bigint, number>();
  const ids = withinMass(selected, masses);
  const readPart = (part: readonly bigint[], body: RawBuilder<unknown>): Promise<Buffer> =>
    readJson(db, {
      tables: { page: sql`select * from unnest(${part}::bigint[]) with ordinality as page (key, position)` },
      body,
    });
  const hashes = await readPart(
    ids,
    jsonArray(hex('blocks.hash'), sql`from page join blocks on blocks.id = page.key order by page.position`),
  );
  const blocks: Buffer[] = [];
  if (includeBlocks) {
    const body = wholeBlocks(includeTransactions);
    for (const part of partsOf(ids, masses)) blocks.push((await readPart(part, body)).subarray(1, -1));
  }
  const between = Buffer.from(',"blocks":');
  return Buffer.concat([Buffer.from('{"blockHashes":'), hashes, between, toJsonArray(blocks), Buffer.from('}')]);
}

export const getBlocks = indexRoute(
  {
    ...rpc('POST', 'getBlocks'),
    summary: 'About 250 blocks from a low block upwards',
    description:
      'A response with transactions ends earlier, with a chain block as always, if they have more than 32,000,000 of compute mass together. A response ends before a gap of the index; a request from the last block before a gap is a 409 that names the first block after it. Blocks before the first indexed block, or in a gap, appear only as hashes of parents and in mergesets.',
    cost: 0.5,
    body: z
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
      }),
    response: z.object({
      blockHashes: z.array(hash).meta({ description: '`lowHash` first' }),
      blocks: z.array(block).meta({ description: 'In the order of `blockHashes`; empty without `includeBlocks`' }),
    }),
    errors: [404, 409],
  },
  (reading, { body }) => readBlocks(reading, body),
);
