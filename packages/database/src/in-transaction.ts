/** All or nothing: what the work writes is committed together, or not at all. */
import type { ClientBase } from 'pg';

export async function inTransaction<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // The connection may be gone; then there is nothing to roll back.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
