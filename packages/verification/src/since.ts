/**
 * The point from which facts are verified: a chain block, and keys. Keys are assigned in the order
 * of first writing, so tables are read from the keys on. Merged blocks are written before the chain
 * block, so everything of the chain is selected by chain index, never by keys.
 */
import { FatalError } from '@kasgres/runtime';
import type { Queryable } from '@kasgres/state';

export interface Since {
  chainIndex: bigint;
  blockId: bigint;
  /** The key of the block's coinbase. */
  transactionId: bigint;
  hash: string;
  blueWork: string;
  daaScore: bigint;
  time: bigint;
}

/** Below every key, including those of tests and benchmarks. */
const LOWEST = -(2n ** 62n);

export const EVERYTHING: Pick<Since, 'chainIndex' | 'blockId' | 'transactionId'> = {
  chainIndex: LOWEST,
  blockId: LOWEST,
  transactionId: LOWEST,
};

export type From = typeof EVERYTHING;

const SELECT = (condition: string): string => `
  select c.index as "chainIndex", c.block_id as "blockId", bt.transaction_id as "transactionId",
    encode(b.hash, 'hex') as hash, b.blue_work as "blueWork", c.daa_score as "daaScore",
    c.chain_time as time
  from chain_blocks c join blocks b on b.id = c.block_id
  join block_transactions bt on bt.block_id = c.block_id and bt.index = 0
  where ${condition} order by c.index limit 1`;

/**
 * Finds the first chain block from a point on.
 * @param point a DAA score, the hash of a chain block, or a time in ISO 8601
 * @throws {FatalError} if the point is invalid, or no chain block follows it
 */
export async function findSince(db: Queryable, point: string): Promise<Since> {
  const { condition, value } = readPoint(point);
  const { rows } = await db.query<Since>(SELECT(condition), [value]);
  const [since] = rows;
  if (since === undefined) {
    throw new FatalError(
      `--since ${point}: this index has no chain block there. \`kasgres status\` prints the indexed segments of the chain.`,
    );
  }
  return since;
}

function readPoint(point: string): { condition: string; value: unknown } {
  if (/^[0-9a-f]{64}$/i.test(point)) return { condition: 'b.hash = $1', value: Buffer.from(point, 'hex') };
  if (/^\d{1,18}$/.test(point)) return { condition: 'c.daa_score >= $1', value: BigInt(point) };
  const [date] = /^\d{4}-\d{2}-\d{2}/.exec(point) ?? [];
  const time = date === undefined ? Number.NaN : Date.parse(point);
  // Date.parse takes 31 February for a day of March.
  if (Number.isNaN(time) || new Date(`${date}T00:00:00Z`).toISOString().slice(0, 10) !== date) {
    throw new FatalError(
      `--since ${point} is none of: a DAA score, the hash of a chain block, a time in ISO 8601 such as 2026-11-01 or 2026-11-01T12:00:00Z.`,
    );
  }
  // The expression of the index chain_blocks_chain_time.
  return { condition: 'to_timestamp(c.chain_time::double precision / 1000) >= $1', value: new Date(time) };
}

export function describeSince({ hash, chainIndex, daaScore, time }: Since): string {
  return `chain block ${hash} (index ${chainIndex}, DAA score ${daaScore}, ${new Date(Number(time)).toISOString()})`;
}
