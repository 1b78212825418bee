/** How far the UTXO set of a coming start is loaded. */
import type { Queryable } from '@kasgres/state';
import { isStandby } from './queryable.ts';

export interface UtxoSetLoad {
  /** Hash of the block whose set it is, in hex. */
  pruningPoint: string;
  /** Loaded so far. */
  utxoCount: bigint;
}

/** Undefined while none is under way, and on a standby, which has no part of it. */
export async function findUtxoSetLoad(db: Queryable): Promise<UtxoSetLoad | undefined> {
  if (await isStandby(db)) return undefined;
  const { rows } = await db.query<UtxoSetLoad>(
    `select encode(block_hash, 'hex') as "pruningPoint", utxos as "utxoCount" from utxo_set_load`,
  );
  return rows[0];
}
