import { type Connection, createKey } from '@kasgres/database';

/**
 * Calls `work` with an API key whose limits no benchmark reaches, and deletes it afterwards with
 * its usage.
 */
export async function withTemporaryKey(
  { kysely, pool }: Connection,
  concurrency: number,
  work: (key: string) => Promise<void>,
): Promise<void> {
  const { id, key } = await createKey(kysely, { name: `bench ${Date.now()}`, rateRu: 1e9, concurrency });
  try {
    await work(key);
  } finally {
    for (const statement of ['delete from api_key_usage where api_key_id = $1', 'delete from api_keys where id = $1'])
      await pool.query(statement, [id]);
  }
}
