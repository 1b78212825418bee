import { type Crescendo, findNetwork } from '@kasgres/kaspa';
import type { Queryable } from '@kasgres/state';

/** The name of the indexed network, as the database has it; undefined before the first start. */
export async function findNetworkName(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ network: string }>('select network from meta');
  return rows[0]?.network;
}

/** The hard fork of the indexed network; undefined if it has had these rules from genesis on. */
export async function findCrescendo(db: Queryable): Promise<Crescendo | undefined> {
  return findNetwork((await findNetworkName(db)) ?? '')?.crescendo;
}
