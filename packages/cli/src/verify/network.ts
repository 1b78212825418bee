import { type Crescendo, findNetwork } from '@kasgres/kaspa';
import type { Queryable } from '@kasgres/state';

/** Returns the name of the indexed network; undefined before the first bootstrap. */
export async function findNetworkName(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ network: string }>('select network from meta');
  return rows[0]?.network;
}

/** Returns the hard fork of the indexed network; undefined if its rules are in force since genesis. */
export async function findCrescendo(db: Queryable): Promise<Crescendo | undefined> {
  return findNetwork((await findNetworkName(db)) ?? '')?.crescendo;
}
