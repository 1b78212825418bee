/** Queries that several checks and commands share. */
import { type Crescendo, findNetwork } from '@kasgres/kaspa';
import { isStandby, type Queryable } from '@kasgres/state';

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

export interface Bootstrap {
  /** Differs from that of any other bootstrap. */
  id: string;
  /** Derived state is incomplete during the first catch-up. */
  isCatchingUp: boolean;
}

/** Returns the latest bootstrap; undefined while nothing is indexed. */
export async function findBootstrap(db: Queryable): Promise<Bootstrap | undefined> {
  const { rows } = await db.query<Bootstrap>(
    `select concat_ws(' ', s.chain_index, s.block_id, s.started_at) as id, c.first_catch_up as "isCatchingUp"
       from checkpoint c cross join bootstrap_blocks s order by s.chain_index desc limit 1`,
  );
  return rows[0];
}

/** Returns the hash of the first chain block if retention removed the chain before it. */
export async function findFirstBlockOfRetention(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ hash: string }>(
    `select encode(hash, 'hex') as hash from chain_blocks where index = (select min(index) from chain_blocks) and index > 0`,
  );
  return rows[0]?.hash;
}

export interface UtxoSetLoad {
  pruningPoint: string;
  utxoCount: number;
}

/**
 * Returns the progress of loading the UTXO set of the next bootstrap block, if there is one.
 * Standbys do not have its unlogged tables.
 */
export async function findUtxoSetLoad(db: Queryable): Promise<UtxoSetLoad | undefined> {
  if (await isStandby(db)) return undefined;
  const { rows } = await db.query<UtxoSetLoad>(
    `select encode(block_hash, 'hex') as "pruningPoint", utxos::float8 as "utxoCount" from utxo_set_load`,
  );
  return rows[0];
}
