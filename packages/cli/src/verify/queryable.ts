import { type Crescendo, findNetwork } from '@kasgres/kaspa';
import type { Queryable } from '@kasgres/state';

export type { Queryable };

/** Unlogged tables do not exist on a standby, and naming one there is an error. */
export async function isStandby(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
  return rows[0]?.standby === true;
}

/** Returns the name of the indexed network; undefined before the first bootstrap. */
export async function findNetworkName(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ network: string }>('select network from meta');
  return rows[0]?.network;
}

/** Returns the hard fork of the indexed network; undefined if its rules are in force since genesis. */
export async function findCrescendo(db: Queryable): Promise<Crescendo | undefined> {
  return findNetwork((await findNetworkName(db)) ?? '')?.crescendo;
}
