/**
 * Positions on the chain, as one state of the database shows it. chain_blocks.index has no holes, and neither blue score nor chain_time
 * goes back along it, so what is asked for is found by halving, in one query.
 */
import type { Queryable } from '../verify/queryable.ts';

export const DAY_MS = 86_400_000;

/** A chain block, by its place and its name: whether it still has both tells whether the chain is still the one that was exported. */
export interface Position {
  index: number;
  hash: string;
}

export interface ChainBlock extends Position {
  blueScore: number;
  /** Unix milliseconds. */
  chainTime: number;
}

interface ChainEnds {
  first: ChainBlock;
  sink: ChainBlock;
}

const CHAIN_BLOCK = `
  select c.index::float8 as index, encode(b.hash, 'hex') as hash, b.blue_score::float8 as "blueScore",
    c.chain_time::float8 as "chainTime"
    from chain_blocks c join blocks b on b.id = c.block_id`;

export async function findChainBlock(db: Queryable, index: number): Promise<ChainBlock | undefined> {
  const { rows } = await db.query<ChainBlock>(`${CHAIN_BLOCK} where c.index = $1`, [index]);
  return rows[0];
}

/** Undefined while nothing is indexed. */
export async function findChainEnds(db: Queryable): Promise<ChainEnds | undefined> {
  const first = await db.query<ChainBlock>(`${CHAIN_BLOCK} order by c.index limit 1`);
  const sink = await db.query<ChainBlock>(`${CHAIN_BLOCK} order by c.index desc limit 1`);
  return first.rows[0] && sink.rows[0] && { first: first.rows[0], sink: sink.rows[0] };
}

export async function isOnChain(db: Queryable, { index, hash }: Position): Promise<boolean> {
  return (await findChainBlock(db, index))?.hash === hash;
}

/** Where the index counts from, and whether what it counts is complete. */
export interface Bootstrap {
  /** Tells one bootstrap from the next. */
  name: string;
  isCatchingUp: boolean;
}

/** Undefined while nothing is indexed. */
export async function findBootstrap(db: Queryable): Promise<Bootstrap | undefined> {
  const { rows } = await db.query<Bootstrap>(
    `select concat_ws(' ', s.chain_index, s.block_id, s.started_at) as name, c.first_catch_up as "isCatchingUp"
       from checkpoint c cross join starts s order by s.chain_index desc limit 1`,
  );
  return rows[0];
}

/** Returns whether a gap comes after this chain block. */
export async function isBeforeGap(db: Queryable, index: number): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (select from gaps g join blocks b on b.hash = g.before_block_hash join chain_blocks c on c.block_id = b.id
                     where c.index > $1) as found`,
    [index],
  );
  return rows[0]?.found === true;
}

/** Neither goes back along the chain. */
type Measure = 'blue_score' | 'chain_time';

/** The last chain block of a range whose blue score or time is below a limit; undefined when there is none. */
export async function findLastBelow(
  db: Queryable,
  { first, last }: { first: number; last: number },
  measure: Measure,
  limit: number,
): Promise<ChainBlock | undefined> {
  const { rows } = await db.query<ChainBlock>(
    `with recursive halving (low, high) as (
       select $1::bigint, $2::bigint
       union all
       select case when is_below then middle + 1 else low end, case when is_below then high else middle - 1 end
         from (select low, high, (low + high) / 2 as middle from halving where low <= high) halves
        cross join lateral (select ${measure === 'blue_score' ? 'b.blue_score' : 'c.chain_time'} < $3::bigint as is_below
                              from chain_blocks c join blocks b on b.id = c.block_id where c.index = middle) found
     )
     ${CHAIN_BLOCK} where c.index = (select high from halving where low > high) and c.index >= $1`,
    [first, last, limit],
  );
  return rows[0];
}

/** YYYY-MM-DD, in UTC. */
export function dayOfTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** When the day begins, Unix milliseconds. */
export function startOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function endOfDay(day: string): number {
  return startOfDay(day) + DAY_MS;
}
