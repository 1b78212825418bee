/** The key of a block by its hash. */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';

export async function findBlockId(db: Kysely<Database>, hash: Uint8Array): Promise<bigint | undefined> {
  const row = await db.selectFrom('blocks').select('id').where('hash', '=', Buffer.from(hash)).executeTakeFirst();
  return row?.id;
}
