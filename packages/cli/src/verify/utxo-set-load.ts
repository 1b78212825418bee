import type { Queryable } from '@kasgres/state';
import { isStandby } from './queryable.ts';

/** The progress of loading the UTXO set of the next bootstrap block. */
export interface UtxoSetLoad {
  /** Hash of the block whose set it is, in hex. */
  pruningPoint: string;
  utxoCount: bigint;
}

/** Returns undefined without a load, and on a standby, where its unlogged tables do not exist. */
export async function findUtxoSetLoad(db: Queryable): Promise<UtxoSetLoad | undefined> {
  if (await isStandby(db)) return undefined;
  const { rows } = await db.query<UtxoSetLoad>(
    `select encode(block_hash, 'hex') as "pruningPoint", utxos as "utxoCount" from utxo_set_load`,
  );
  return rows[0];
}
