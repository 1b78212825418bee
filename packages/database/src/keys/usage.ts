/** Usage of API keys: sums by key and day, to which all API processes add in batches. */
import { type Kysely, sql } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { commit } from '../connection/commit.ts';

/** Period of a quota, in UTC. */
export type QuotaPeriod = 'day' | 'month';

const DAY_MS = 86_400_000;

/** The last result of `dayOf`, which is called for each request. */
let latest = { number: Number.NaN, day: '' };

/** Returns a day such as `2026-01-31`. */
export function dayOf(time: Date): string {
  const number = Math.floor(time.getTime() / DAY_MS);
  if (number !== latest.number) latest = { number, day: time.toISOString().slice(0, 10) };
  return latest.day;
}

/** Returns the first day of the period that contains a time. */
export function firstDayOf(period: QuotaPeriod, time: Date): string {
  const day = dayOf(time);
  return period === 'day' ? day : `${day.slice(0, 8)}01`;
}

/** Returns the end of the period that contains a time. */
export function endOf(period: QuotaPeriod, time: Date): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  return new Date(period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1));
}

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
