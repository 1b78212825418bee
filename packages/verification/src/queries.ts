/** Queries that several checks share. */
import { type Crescendo, findNetwork } from '@kasgres/kaspa';
import type { Queryable } from '@kasgres/state';

/**
 * Queries for faults, by a sentence in which `{}` stands for the value that each row of the query
 * has.
 */
export type Faults = Readonly<Record<string, string>>;

/** Returns the faults, one sentence each (the first 20 of a kind). */
export async function findFaults(db: Queryable, faults: Faults): Promise<string[]> {
  const found: string[] = [];
  for (const [fault, sql] of Object.entries(faults)) {
    // Materialized, since the limit makes the planner expect an early end, and there is usually no
    // fault.
    const { rows } = await db.query<{ value: string }>(
      `with faults (value) as materialized (${sql}) select distinct value::text from faults limit 20`,
    );
    found.push(...rows.map(({ value }) => fault.replace('{}', value)));
  }
  return found;
}

/** Returns the name of the indexed network; undefined before the first bootstrap. */
export async function findNetworkName(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ network: string }>('select network from meta');
  return rows[0]?.network;
}

/**
 * Returns the hard fork of the indexed network; undefined if its rules are in force since genesis.
 */
export async function findCrescendo(db: Queryable): Promise<Crescendo | undefined> {
  return findNetwork((await findNetworkName(db)) ?? '')?.crescendo;
}

/** Returns the hash of the first chain block if retention removed the chain before it. */
export async function findFirstBlockOfRetention(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ hash: string }>(
    `select encode(hash, 'hex') as hash from chain_blocks
      where index = (select min(index) from chain_blocks) and index > 0`,
  );
  return rows[0]?.hash;
}
