/** The key of an address's script, under which everything of the address stands. */
import type { Database } from '@kasgres/database';
import { addressToScript } from '@kasgres/kaspa';
import type { Kysely } from 'kysely';

/** Undefined for an address that was never seen. */
export async function findScriptId(db: Kysely<Database>, address: string): Promise<bigint | undefined> {
  const { version, script } = addressToScript(address);
  const row = await db
    .selectFrom('scripts')
    .select('id')
    .where('script', '=', Buffer.from(script))
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.id;
}
