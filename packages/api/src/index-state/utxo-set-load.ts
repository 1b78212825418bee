/** How far the UTXO set of a coming start is loaded. */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { hex } from './sql.ts';

export interface UtxoSetLoad {
  /** The pruning point whose set it is. */
  blockHash: string;
  utxos: bigint;
}

/** Undefined while none is being loaded, and on a replica, which has no unlogged tables: there nobody can tell. */
export async function findUtxoSetLoad(db: Kysely<Database>): Promise<UtxoSetLoad | undefined> {
  const { rows } = await sql<{ is_replica: boolean }>`select pg_is_in_recovery() as is_replica`.execute(db);
  if (rows[0]?.is_replica !== false) return undefined;
  const row = await db
    .selectFrom('utxo_set_load')
    .select([hex('block_hash').as('hash'), 'utxos'])
    .executeTakeFirst();
  return row && { blockHash: row.hash, utxos: row.utxos };
}
