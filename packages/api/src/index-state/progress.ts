/** Replication lag, and the progress of a UTXO set that is being loaded. */
import { sql } from 'kysely';
import { type Db, hex } from './sql.ts';

/**
 * Returns the seconds by which the database is behind its primary, or null if it is no replica.
 *
 * The age of the last replayed commit is not the lag, since it grows while the primary writes nothing: a replica that streams and has replayed
 * everything it received is not behind. A replica that does not stream cannot know what it is missing, and one that has replayed nothing since it
 * was started may be missing all of that time.
 */
export async function findReplicaLag(db: Db): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    select case
      when not pg_is_in_recovery() then null
      when pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() and exists (select from pg_stat_wal_receiver) then 0
      else greatest(0, extract(epoch from
        clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())))
    end::float8 as seconds`.execute(db);
  return rows[0]?.seconds ?? null;
}

export interface UtxoSetLoad {
  blockHash: string;
  utxos: bigint;
}

/** Returns undefined while no set is being loaded, and always on a replica, where unlogged tables cannot be read. */
export async function findUtxoSetLoad(db: Db): Promise<UtxoSetLoad | undefined> {
  const { rows } = await sql<{ is_replica: boolean }>`select pg_is_in_recovery() as is_replica`.execute(db);
  if (rows[0]?.is_replica !== false) return undefined;
  const row = await db
    .selectFrom('utxo_set_load')
    .select([hex('block_hash').as('hash'), 'utxos'])
    .executeTakeFirst();
  return row && { blockHash: row.hash, utxos: row.utxos };
}
