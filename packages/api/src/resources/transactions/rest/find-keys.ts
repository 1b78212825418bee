/** Keys of transactions by their ids. */
import type { Database } from '@kasgres/database';
import { toHex } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';

export async function findTransactionKey(db: Kysely<Database>, transactionId: Uint8Array): Promise<bigint | undefined> {
  const [key] = await findTransactionKeys(db, [transactionId]);
  return key;
}

/** In the order of the ids, without the unknown ones. */
export async function findTransactionKeys(
  db: Kysely<Database>,
  transactionIds: readonly Uint8Array[],
): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint; transaction_id: string }>`
    select id, encode(transaction_id, 'hex') as transaction_id
    from transactions
    where transaction_id = any(${transactionIds}::bytea[])`.execute(db);
  const keys = new Map(rows.map((row) => [row.transaction_id, row.id]));
  return transactionIds.flatMap((id) => keys.get(toHex(id)) ?? []);
}
