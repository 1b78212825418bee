/** Metered use of the API's keys: sums by key and day, added up in batches by every API process. */
import { type Kysely, sql } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { commit } from '../connection/commit.ts';

export interface KeyUsage {
  apiKeyId: bigint;
  /** Day in UTC, `2026-01-31`. */
  day: string;
  requests: number;
  /** Request units. */
  ru: number;
}

/**
 * Adds to what is there. At most one entry for a key and day.
 * @throws UnknownCommitError when it may have been added: whoever adds it again asks first
 */
export async function addUsage(db: Kysely<Database>, batch: readonly KeyUsage[]): Promise<void> {
  if (batch.length === 0) return;
  // Several processes write at once: rows locked in one order cannot deadlock.
  const ordered = batch.toSorted((a, b) =>
    a.day === b.day ? Number(a.apiKeyId - b.apiKeyId) : a.day < b.day ? -1 : 1,
  );
  const rows = ordered.map(({ apiKeyId, day, requests, ru }) => ({
    api_key_id: apiKeyId,
    day,
    requests: BigInt(requests),
    ru,
  }));
  await commit(db, async (transaction) => {
    await transaction
      .insertInto('api_key_usage')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['api_key_id', 'day']).doUpdateSet({
          requests: sql`api_key_usage.requests + excluded.requests`,
          ru: sql`api_key_usage.ru + excluded.ru`,
        }),
      )
      .execute();
  });
}

/** Use of one key, newest day first. */
export async function listUsage(db: Kysely<Database>, apiKeyId: bigint, days = 31): Promise<KeyUsage[]> {
  const rows = await db
    .selectFrom('api_key_usage')
    .selectAll()
    .where('api_key_id', '=', apiKeyId)
    .orderBy('day', 'desc')
    .limit(days)
    .execute();
  return rows.map((row) => ({ apiKeyId, day: row.day, requests: Number(row.requests), ru: Number(row.ru) }));
}
