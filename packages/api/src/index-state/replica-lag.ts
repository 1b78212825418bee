/** How far the database that answers are read from is behind the one that the indexer writes. */
import { type Kysely, sql } from 'kysely';
import type { Database } from '@kasgres/database';

/**
 * Seconds; null where the database is no replica.
 *
 * The age of the last commit replayed is no lag by itself, since it grows while the primary has nothing to write: a replica that streams
 * and has replayed all that it received is not behind. One that does not stream cannot know what it is missing, and one that has replayed
 * nothing since its start may be missing all of that time.
 */
export async function findReplicaLag(db: Kysely<Database>): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    select case
      when not pg_is_in_recovery() then null
      when pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() and exists (select from pg_stat_wal_receiver) then 0
      else greatest(0, extract(epoch from
        clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())))
    end::float8 as seconds`.execute(db);
  return rows[0]?.seconds ?? null;
}
