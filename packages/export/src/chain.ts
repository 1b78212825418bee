/**
 * Positions on the chain. chain_blocks.index has no holes, and neither blue score nor chain_time
 * decreases along the chain, so a position is found by binary search in one query.
 */
import type { Queryable } from '@kasgres/state';

export const DAY_MS = 86_400_000;

/**
 * A chain block. As long as the chain has it at this index, everything up to it is as it was
 * exported.
 */
export interface Position {
  index: number;
  hash: string;
}

export interface ChainBlock extends Position {
  blueScore: number;
  /** Unix milliseconds. */
  chainTime: number;
}

const CHAIN_BLOCK = `
  select c.index::float8 as index, encode(b.hash, 'hex') as hash,
    b.blue_score::float8 as "blueScore", c.chain_time::float8 as "chainTime"
    from chain_blocks c join blocks b on b.id = c.block_id`;

export async function findChainBlock(db: Queryable, index: number): Promise<ChainBlock | undefined> {
  const { rows } = await db.query<ChainBlock>(`${CHAIN_BLOCK} where c.index = $1`, [index]);
  return rows[0];
}

export async function findChainEnds(db: Queryable): Promise<{ first: ChainBlock; sink: ChainBlock } | undefined> {
  const first = await db.query<ChainBlock>(`${CHAIN_BLOCK} order by c.index limit 1`);
  const sink = await db.query<ChainBlock>(`${CHAIN_BLOCK} order by c.index desc limit 1`);
  return first.rows[0] && sink.rows[0] && { first: first.rows[0], sink: sink.rows[0] };
}

export async function isOnChain(db: Queryable, { index, hash }: Position): Promise<boolean> {
  return (await findChainBlock(db, index))?.hash === hash;
}

/** Returns whether a gap comes after this chain block. */
export async function isBeforeGap(db: Queryable, index: number): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (select from gaps g join blocks b on b.hash = g.before_block_hash
      join chain_blocks c on c.block_id = b.id
                     where c.index > $1) as found`,
    [index],
  );
  return rows[0]?.found === true;
}

export async function findLastBelow(
  db: Queryable,
  { first, last }: { first: number; last: number },
  measure: 'blue_score' | 'chain_time',
  limit: number,
): Promise<ChainBlock | undefined> {
  const { rows } = await db.query<ChainBlock>(
    `with recursive halving (low, high) as (
       select $1::bigint, $2::bigint
       union all
       select case when is_below then middle + 1 else low end, case when is_below then high
         else middle - 1 end
         from (select low, high, (low + high) / 2 as middle from halving where low <= high) halves
        cross join lateral (select ${measure === 'blue_score' ? 'b.blue_score' : 'c.chain_time'} < $3::bigint as is_below
                              from chain_blocks c join blocks b on b.id = c.block_id
                                where c.index = middle) found
     )
     ${CHAIN_BLOCK} where c.index = (select high from halving where low > high) and c.index >= $1`,
    [first, last, limit],
  );
  return rows[0];
}

export function dayOfTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

export function startOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function endOfDay(day: string): number {
  return startOfDay(day) + DAY_MS;
}
