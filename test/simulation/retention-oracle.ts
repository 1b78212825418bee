/**
 * The oracle of retention: an index that keeps everything, rewritten as if it had been bootstrapped
 * at the first block of another one.
 */
import type { Connection } from '@kasgres/database';
import type { PoolClient } from 'pg';
import { expect } from 'vitest';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { startAt } from './start-at.ts';

type Db = Pick<Connection, 'pool'>;

/** Tables that sum up history, or describe the index rather than the chain. */
const SUMS = new Set([
  'rollups of scripts',
  'intervals',
  'changes of balances',
  'lanes',
  'hours of lanes',
  'covenants',
  'hours of covenants',
  'templates of covenants',
  'programs',
  'templates of programs',
  'spends of programs',
]);
/**
 * The part of history above the cut, by the index of the chain block that comes first in each row.
 */
const EVENTS = ['chain blocks of lanes', 'events of covenants', 'templates of events'];
/** Names of transactions, as far as these are kept. */
const NAMES = ['geneses of covenants', 'first transactions of programs'];

export async function firstIndex({ pool }: Db): Promise<number> {
  const { rows } = await pool.query<{ first: number }>('select min(index)::int as first from chain_blocks');
  return rows[0]?.first ?? -1;
}

/**
 * Rewrites an index that keeps everything into one that was bootstrapped at a chain block, with the
 * indexes of the chain as they were.
 */
async function cutByOracle({ pool }: Db, chainIndex: number): Promise<void> {
  const client: PoolClient = await pool.connect();
  try {
    await client.query('begin');
    await client.query('create temporary table times on commit drop as select block_id, chain_time from chain_blocks');
    await startAt(client, chainIndex);
    // The first one keeps the running maximum of the chain that was removed.
    await client.query(
      'update chain_blocks c set chain_time = t.chain_time from times t where t.block_id = c.block_id',
    );
    await client.query('update chain_blocks set index = -1 - (index + $1)', [chainIndex]);
    await client.query('update chain_blocks set index = -1 - index');
    await client.query('update transactions set accepting_index = accepting_index + $1', [chainIndex]);
    await client.query('update bootstrap_blocks set chain_index = chain_index + $1', [chainIndex]);
    await client.query('update checkpoint set chain_index = chain_index + $1', [chainIndex]);
    await client.query('commit');
  } finally {
    client.release();
  }
}

/**
 * Expects invariant 13.
 * @param whole an index of the same chain that keeps everything; it is rewritten
 */
export async function expectBootstrappedAtFirst(database: Db, whole: Db): Promise<void> {
  const everything = await takeSnapshot(whole.pool);
  const first = await firstIndex(database);
  await cutByOracle(whole, first);
  const expected = await takeSnapshot(whole.pool);
  const actual = await takeSnapshot(database.pool);
  for (const section of SUMS) expected.set(section, everything.get(section) ?? []);
  for (const section of EVENTS) {
    const isKept = (row: string): boolean => Number(/^\[(\d+)/.exec(row)?.[1]) > first;
    expected.set(section, (everything.get(section) ?? []).filter(isKept));
  }
  for (const section of NAMES) {
    const kept = new Set(actual.get(section));
    expected.set(
      section,
      (everything.get(section) ?? []).filter((row) => kept.has(row)),
    );
  }
  expect(differencesOf(expected, actual)).toEqual([]);
}
