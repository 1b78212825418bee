/** Usage of API keys: sums by key and day, to which all API processes add in batches. */
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
 * Adds usage. The batch has at most one entry for a key and day.
 * @throws UnknownCommitError if it is unknown whether the usage was added
 */
export async function addUsage(db: Kysely<Database>, batch: readonly KeyUsage[]): Promise<void> {
  if (batch.length === 0) return;
  // Several processes write concurrently. Rows that are locked in the same order cannot deadlock.
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

/** Returns the usage of one key, newest day first. */
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
