import type { PoolClient } from 'pg';

/** Returns the identity of the database; undefined if no indexer has written to it. */
export async function findDatabase(
  client: Pick<PoolClient, 'query'>,
): Promise<{ network: string; database: string } | undefined> {
  const { rows } = await client.query<{ network: string; created_at: Date }>('select network, created_at from meta');
  return rows[0] && { network: rows[0].network, database: rows[0].created_at.toISOString() };
}
