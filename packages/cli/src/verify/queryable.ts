import type { Queryable } from '@kasgres/state';

export type { Queryable };

/** Unlogged tables do not exist on a standby, and naming one there is an error. */
export async function isStandby(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
  return rows[0]?.standby === true;
}
