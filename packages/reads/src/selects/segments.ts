/**
 * The indexed chain is one segment, or several with gaps between them (docs/schema.md,
 * `bootstrap_blocks` and `gaps`). Positions of chain blocks continue over a gap without a hole, so
 * every walk along the chain has to check where its segment ends.
 */
import { toHex } from '@kasgres/kaspa';
import { type RawBuilder, sql } from 'kysely';
import { conflict, type HttpError, notFound } from '../http/errors.ts';
import type { Db } from '../index-state/sql.ts';
import type { IndexState } from '../index-state/index-state.ts';
import type { Reading } from '../index-state/state.ts';

/** A chain block at an end of a segment. Times are Unix milliseconds. */
export interface SegmentEnd {
  index: bigint;
  hash: string;
  /** Decimal digits. */
  blueWork: string;
  daaScore: bigint;
  timestamp: bigint;
  /** The latest time of the chain up to the block. */
  chainTime: bigint;
}

/** The chain blocks around a gap, which have consecutive positions. */
export interface Gap {
  after: SegmentEnd;
  before: SegmentEnd;
}

/** Selects a SegmentEnd from a chain block `c` and its block `b`. */
const segmentEnd = sql`c.index, encode(b.hash, 'hex') as hash, b.blue_work as "blueWork", b.daa_score as "daaScore",
  b.timestamp, c.chain_time as "chainTime"`;

/**
 * Joins the chain blocks `lower` and `upper` around each gap. A later bootstrap block has no gap
 * before it if the chain already had that block.
 */
export const joinedGaps = sql`
  bootstrap_blocks
  join chain_blocks upper on upper.index = bootstrap_blocks.chain_index
    and upper.block_id = bootstrap_blocks.block_id
  join blocks bootstrap on bootstrap.id = upper.block_id
  join chain_blocks lower on lower.index = bootstrap_blocks.chain_index - 1 and (
    bootstrap.selected_parent_id is distinct from lower.block_id
    or exists (select from gaps where before_block_hash = upper.hash))`;

/** Lists gaps, ascending. */
export async function listGaps({ db, state }: Reading): Promise<Gap[]> {
  if (state.bootstrapBlocks <= 1) return [];
  const { rows } = await sql<SegmentEnd>`
    select ${segmentEnd}
    from ${joinedGaps}
    join chain_blocks c on c.index in (lower.index, upper.index)
    join blocks b on b.id = c.block_id
    order by upper.index, c.index`.execute(db);
  // Each gap has two rows.
  return rows.flatMap((before, row) => (row % 2 === 0 ? [] : [{ after: rows[row - 1] as SegmentEnd, before }]));
}

/**
 * Returns the gap that a walk upwards from a position reaches, or undefined if there is none below
 * the sink.
 */
export function gapAbove(gaps: readonly Gap[], index: bigint): Gap | undefined {
  return gaps.find(({ after }) => after.index >= index);
}

/** Returns the first block of the segment of a position, or undefined if that is genesis. */
export async function findSegmentStart(reading: Reading, index: bigint): Promise<SegmentEnd | undefined> {
  const gapBelow = (await listGaps(reading)).findLast(({ before }) => before.index <= index);
  return gapBelow?.before ?? (await findFirstBlock(reading));
}

/** Returns the first indexed block, or undefined if that is genesis. */
export async function findFirstBlock({ db, state }: Reading): Promise<SegmentEnd | undefined> {
  const lowest = await findLowestBlock(db);
  return lowest?.hash === toHex(state.network.genesisHash) ? undefined : lowest;
}

/** Returns the first indexed block, or undefined while there is none. */
export async function findLowestBlock(db: Db): Promise<SegmentEnd | undefined> {
  const { rows } = await sql<SegmentEnd>`
    select ${segmentEnd} from chain_blocks c join blocks b on b.id = c.block_id order by c.index
      limit 1`.execute(db);
  return rows[0];
}

export const cannotCross = ({ after, before }: Gap): HttpError =>
  conflict(`The chain is not indexed between ${after.hash} and ${before.hash}: continue from the latter`);

/** Makes a 409 for a block that is known by its hash alone. */
export async function notConnected(reading: Reading): Promise<HttpError> {
  const first = await findLowestBlock(reading.db);
  const gaps = await listGaps(reading);
  if (gaps.length === 0) return conflict(`The block is before the first indexed block, ${first?.hash}`);
  const starts = [first?.hash, ...gaps.map(({ before }) => before.hash)].join(' and ');
  return conflict(
    `The block is before the first indexed block or in a gap: the indexed segments of the chain begin with ${starts}`,
  );
}

/** Makes a 404 that says if the block or transaction may be in an unindexed part of the chain. */
export function unknownItem({ firstBlock, gaps }: IndexState, what: 'block' | 'transaction' | 'covenant'): HttpError {
  const reasons = [
    ...(firstBlock === null ? [] : [`before the first indexed block, ${firstBlock}`]),
    ...(gaps === 0 ? [] : ['in a gap']),
  ];
  const hint = reasons.length === 0 ? '' : `: it may be ${reasons.join(', or ')} (see /v1/status)`;
  return notFound(`Unknown ${what}${hint}`);
}

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

/**
 * Follows selected parents down to the chain: `offChain` is empty if the start is on it, and else
 * has the past of the start without that of the chain block, in mergesets.
 * @throws HttpError 404 if the block is unknown, 409 if it is before the first indexed block or in
 * a gap
 */
export async function getPathToChain(reading: Reading, startHash: Uint8Array) {
  const path = await listPath(reading.db, startHash);
  const [start] = path;
  if (start === undefined) {
    const isKnown = await isPreBootstrap(reading.db, { hash: startHash });
    throw isKnown ? await notConnected(reading) : unknownItem(reading.state, 'block');
  }
  const last = path.pop() as PathBlock;
  if (last.index === null) throw await notConnected(reading);
  return { startId: start.id, offChain: path, chainBlock: { ...last, index: last.index } };
}

/**
 * Selects the blocks that selected parents lead to from a block, by their `depth` below it. They
 * end on the chain, at a position `index` that is null for all others, or before the first indexed
 * block.
 */
export const pathToChain = (startHash: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  with recursive path as (
    select id, hash, blue_score, selected_parent_id, is_chain_block, 0 as depth from blocks
      where hash = ${startHash}
    union all
    select below.id, below.hash, below.blue_score, below.selected_parent_id,
      below.is_chain_block, path.depth + 1
    from path join blocks below on below.id = path.selected_parent_id
    where not path.is_chain_block
  )
  select path.id, path.hash, path.blue_score, path.depth, c.index
  from path left join lateral (select index from chain_blocks where block_id = path.id limit 1) c
    on true`;

async function listPath(db: Db, startHash: Uint8Array): Promise<PathBlock[]> {
  const { rows } = await sql<PathBlock>`
    select b.id, encode(b.hash, 'hex') as hash, b.blue_score as "blueScore",
      b.blue_work as "blueWork", b.merge_set_blues || b.merge_set_reds as "mergeSet", path.index
    from (${pathToChain(sql`${startHash}`)}) path join blocks b on b.id = path.id
    order by path.depth`.execute(db);
  return rows;
}

/**
 * Returns whether the block with a hash, or any block with these ids, is known by its hash alone.
 */
export async function isPreBootstrap(
  db: Db,
  block: { hash: Uint8Array } | { ids: readonly bigint[] },
): Promise<boolean> {
  const condition = 'hash' in block ? sql`hash = ${block.hash}` : sql`id = any(${block.ids}::bigint[])`;
  const { rows } = await sql`select from pre_bootstrap_blocks where ${condition} limit 1`.execute(db);
  return rows.length > 0;
}
