/**
 * The chain as it is indexed: in one part, or in several with gaps between them (docs/schema.md, `starts` and `gaps`). Positions on the
 * chain go on over a gap without a hole, so that every walk upwards or downwards has to ask where its part ends.
 */
import type { Database } from '@kasgres/database';
import { fromHex, toHex } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import { conflict, type HttpError, notFound } from '../../http/errors.ts';
import { hex } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';

/** A chain block at an end of a part. Its time in Unix milliseconds. */
export interface PartEnd {
  index: bigint;
  hash: string;
  /** Decimal digits. */
  blueWork: string;
  daaScore: bigint;
  timestamp: bigint;
  /** The latest time of the chain up to it, in Unix milliseconds. */
  chainTime: bigint;
}

/** What is missing between two chain blocks whose positions follow each other. */
export interface Gap {
  after: PartEnd;
  before: PartEnd;
}

interface GapRow {
  after_index: bigint;
  after_hash: string;
  after_blue_work: string;
  after_daa_score: bigint;
  after_timestamp: bigint;
  after_chain_time: bigint;
  before_index: bigint;
  before_hash: string;
  before_blue_work: string;
  before_daa_score: bigint;
  before_timestamp: bigint;
  before_chain_time: bigint;
}

/** Ascending. A later start has no gap before it where it was made at a block that the chain already had. */
export async function listGaps({ db, state }: Reading): Promise<Gap[]> {
  if (state.starts <= 1) return [];
  const { rows } = await sql<GapRow>`
    select lower.index as after_index, encode(a.hash, 'hex') as after_hash, a.blue_work as after_blue_work,
      a.daa_score as after_daa_score, a.timestamp as after_timestamp, lower.chain_time as after_chain_time,
      upper.index as before_index, encode(b.hash, 'hex') as before_hash, b.blue_work as before_blue_work,
      b.daa_score as before_daa_score, b.timestamp as before_timestamp, upper.chain_time as before_chain_time
    from starts s
    join chain_blocks upper on upper.index = s.chain_index and upper.block_id = s.block_id
    join blocks b on b.id = upper.block_id
    join chain_blocks lower on lower.index = s.chain_index - 1
    join blocks a on a.id = lower.block_id
    where b.selected_parent_id is distinct from a.id or exists (select from gaps where before_block_hash = b.hash)
    order by upper.index`.execute(db);
  return rows.map(toGap);
}

const toGap = (row: GapRow): Gap => ({
  after: {
    index: row.after_index,
    hash: row.after_hash,
    blueWork: row.after_blue_work,
    daaScore: row.after_daa_score,
    timestamp: row.after_timestamp,
    chainTime: row.after_chain_time,
  },
  before: {
    index: row.before_index,
    hash: row.before_hash,
    blueWork: row.before_blue_work,
    daaScore: row.before_daa_score,
    timestamp: row.before_timestamp,
    chainTime: row.before_chain_time,
  },
});

/** The gap that a walk upwards from a position comes to; undefined when none is between it and the sink. */
export function gapAbove(gaps: readonly Gap[], index: bigint): Gap | undefined {
  return gaps.find(({ after }) => after.index >= index);
}

/** The start below which nothing of the part of a position is indexed; undefined where that is genesis, below which nothing is. */
export async function findPartStart(reading: Reading, index: bigint): Promise<PartEnd | undefined> {
  const gapBelow = (await listGaps(reading)).findLast(({ before }) => before.index <= index);
  return gapBelow?.before ?? (await findStart(reading));
}

/** The first indexed block; undefined where that is genesis. */
export async function findStart({ db, state }: Reading): Promise<PartEnd | undefined> {
  const row = await selectFirstBlock(db).executeTakeFirst();
  if (row === undefined || row.hash === toHex(state.network.genesisHash)) return undefined;
  return {
    index: row.index,
    hash: row.hash,
    blueWork: row.blue_work,
    daaScore: row.daa_score,
    timestamp: row.timestamp,
    chainTime: row.chain_time,
  };
}

/** Hash of the first indexed block; undefined while there is none. */
export async function findFirstBlockHash(db: Kysely<Database>): Promise<string | undefined> {
  return (await selectFirstBlock(db).executeTakeFirst())?.hash;
}

/** The same as bytes, where something is indexed. */
export async function getFirstBlockHash(db: Kysely<Database>): Promise<Uint8Array> {
  return fromHex((await selectFirstBlock(db).executeTakeFirstOrThrow()).hash);
}

function selectFirstBlock(db: Kysely<Database>) {
  return db
    .selectFrom('chain_blocks')
    .innerJoin('blocks', 'blocks.id', 'chain_blocks.block_id')
    .select([
      'chain_blocks.index',
      hex('blocks.hash').as('hash'),
      'blocks.blue_work',
      'blocks.daa_score',
      'blocks.timestamp',
      'chain_blocks.chain_time',
    ])
    .orderBy('chain_blocks.index')
    .limit(1);
}

/** 409 for what would have to cross a gap at once. */
export const gapInTheWay = ({ after, before }: Gap): HttpError =>
  conflict(`The chain is not indexed between ${after.hash} and ${before.hash}: go on from the latter`);

/** 409 for a block that is known, but not connected with what is indexed. */
export async function notConnected(reading: Reading): Promise<HttpError> {
  const first = await findFirstBlockHash(reading.db);
  const gaps = await listGaps(reading);
  if (gaps.length === 0) return conflict(`The block is before what is indexed, which begins with ${first}`);
  const parts = [first, ...gaps.map(({ before }) => before.hash)].join(' and ');
  return conflict(
    `The block is before what is indexed, or in a gap: the parts of the chain that are indexed begin with ${parts}`,
  );
}

/** 404 for a hash that nothing has. Where not all since genesis is indexed that may be why. */
export async function unknown(reading: Reading, what: 'block' | 'transaction'): Promise<HttpError> {
  const start = await findStart(reading);
  const places = [
    ...(start === undefined ? [] : [`before what is indexed, which begins with block ${start.hash}`]),
    ...(reading.state.gaps === 0 ? [] : ['in a gap']),
  ];
  const hint = places.length === 0 ? '' : `; it may be ${places.join(', or ')} (/v1/status has more)`;
  return notFound(`Unknown ${what}${hint}`);
}
