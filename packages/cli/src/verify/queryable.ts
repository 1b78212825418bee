import type { Connection } from '@kasgres/database';

/** A pool, or one client with a transaction open: then all checks see the same state, whatever the indexer does meanwhile. */
export type Queryable = Pick<Connection['pool'], 'query'>;

/** A standby has every table but the unlogged ones, which cannot even be named there. */
export async function isStandby(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
  return rows[0]?.standby === true;
}
