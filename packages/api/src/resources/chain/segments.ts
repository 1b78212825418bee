/**
 * The indexed chain is one segment, or several with gaps between them (docs/schema.md, `starts` and `gaps`). Positions of chain blocks continue
 * over a gap without a hole, so every walk along the chain has to check where its segment ends.
 */
import { fromHex, toHex } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { conflict, type HttpError, notFound } from '../../http/errors.ts';
import { type Db, hex } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';

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

/** What is missing between two chain blocks with consecutive positions. */
export interface Gap {
  after: SegmentEnd;
  before: SegmentEnd;
}

/** Selects a SegmentEnd from the aliases of its chain block and block. */
const segmentEnd = (chainBlock: string, block: string, prefix = '') => sql`
  ${sql.ref(`${chainBlock}.index`)} as ${sql.ref(`${prefix}index`)},
  encode(${sql.ref(`${block}.hash`)}, 'hex') as ${sql.ref(`${prefix}hash`)},
  ${sql.ref(`${block}.blue_work`)} as ${sql.ref(`${prefix}blueWork`)},
  ${sql.ref(`${block}.daa_score`)} as ${sql.ref(`${prefix}daaScore`)},
  ${sql.ref(`${block}.timestamp`)} as ${sql.ref(`${prefix}timestamp`)},
  ${sql.ref(`${chainBlock}.chain_time`)} as ${sql.ref(`${prefix}chainTime`)}`;

/** Lists gaps, ascending. A later bootstrap block has no gap before it if the chain already had that block. */
export async function listGaps({ db, state }: Reading): Promise<Gap[]> {
  if (state.starts <= 1) return [];
  const { rows } = await sql<SegmentEnd & { [Name in keyof SegmentEnd as `after_${Name}`]: SegmentEnd[Name] }>`
    select ${segmentEnd('lower', 'a', 'after_')}, ${segmentEnd('upper', 'b')}
    from starts s
    join chain_blocks upper on upper.index = s.chain_index and upper.block_id = s.block_id
    join blocks b on b.id = upper.block_id
    join chain_blocks lower on lower.index = s.chain_index - 1
    join blocks a on a.id = lower.block_id
    where b.selected_parent_id is distinct from a.id or exists (select from gaps where before_block_hash = b.hash)
    order by upper.index`.execute(db);
  return rows.map((row) => ({
    after: {
      index: row.after_index,
      hash: row.after_hash,
      blueWork: row.after_blueWork,
      daaScore: row.after_daaScore,
      timestamp: row.after_timestamp,
      chainTime: row.after_chainTime,
    },
    before: row,
  }));
}

/** Returns the gap that a walk upwards from a position reaches, or undefined if there is none below the sink. */
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
  const first = await selectFirstBlock(db);
  return first?.hash === toHex(state.network.genesisHash) ? undefined : first;
}

/** Returns the hash of the first indexed block, or undefined while there is none. */
export async function findFirstBlockHash(db: Db): Promise<string | undefined> {
  return (await selectFirstBlock(db))?.hash;
}

/** Returns the hash of the first indexed block as bytes. */
export async function getFirstBlockHash(db: Db): Promise<Uint8Array> {
  const first = await selectFirstBlock(db);
  if (first === undefined) throw new Error('there is a checkpoint, but no chain block');
  return fromHex(first.hash);
}

function selectFirstBlock(db: Db): Promise<SegmentEnd | undefined> {
  return db
    .selectFrom('chain_blocks')
    .innerJoin('blocks', 'blocks.id', 'chain_blocks.block_id')
    .select([
      'chain_blocks.index',
      hex('blocks.hash').as('hash'),
      'blocks.blue_work as blueWork',
      'blocks.daa_score as daaScore',
      'blocks.timestamp',
      'chain_blocks.chain_time as chainTime',
    ])
    .orderBy('chain_blocks.index')
    .limit(1)
    .executeTakeFirst();
}

/** Makes a 409 for a request that would have to cross a gap. */
export const cannotCross = ({ after, before }: Gap): HttpError =>
  conflict(`The chain is not indexed between ${after.hash} and ${before.hash}: continue from the latter`);

/** Makes a 409 for a block that is known by its hash alone. */
export async function notConnected(reading: Reading): Promise<HttpError> {
  const first = await findFirstBlockHash(reading.db);
  const gaps = await listGaps(reading);
  if (gaps.length === 0) return conflict(`The block is before the first indexed block, ${first}`);
  const starts = [first, ...gaps.map(({ before }) => before.hash)].join(' and ');
  return conflict(
    `The block is before the first indexed block or in a gap: the indexed segments of the chain begin with ${starts}`,
  );
}

/** Makes a 404 that says if the block or transaction may be in an unindexed part of the chain. */
export async function unknownItem(reading: Reading, what: 'block' | 'transaction'): Promise<HttpError> {
  const first = await findFirstBlock(reading);
  const reasons = [
    ...(first === undefined ? [] : [`before the first indexed block, ${first.hash}`]),
    ...(reading.state.gaps === 0 ? [] : ['in a gap']),
  ];
  const hint = reasons.length === 0 ? '' : `: it may be ${reasons.join(', or ')} (see /v1/status)`;
  return notFound(`Unknown ${what}${hint}`);
}
