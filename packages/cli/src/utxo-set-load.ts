import { isStandby, type Queryable } from '@kasgres/state';

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
