/**
 * Keys of the HTTP API. A key is shown once, when it is created; the database stores only its
 * SHA-256. A key has 256 random bits, so a slower hash is not needed.
 */
import { hash, randomBytes } from 'node:crypto';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { firstDayOf, type QuotaPeriod } from './usage.ts';

interface KeyLimits {
  /** Request units per window. */
  rateRu: number;
  /** At most MAX_WINDOW_SECONDS. */
  windowSeconds: number;
  /** Request units per day or month (UTC). */
  quota: { ru: number; period: QuotaPeriod } | undefined;
  /** Requests that may be in flight at once, in each API process. */
  concurrency: number;
  /** Whether submitting transactions and blocks is forbidden. */
  readOnly: boolean;
}

export interface ApiKey extends KeyLimits {
  id: bigint;
  name: string;
}

/** A key that is neither revoked nor expired. */
export interface KeyInForce extends ApiKey {
  /** SHA-256 of the key. */
  keyHash: Uint8Array;
  /**
   * Recorded usage in the current period of the quota, which began on `since` (UTC); undefined
   * without a quota.
   */
  used: { ru: number; since: string } | undefined;
}

export interface KeyRecord extends ApiKey {
  createdAt: Date;
  expiresAt: Date | undefined;
  revokedAt: Date | undefined;
}

export interface NewKey extends Partial<KeyLimits> {
  name: string;
  expiresAt?: Date;
}

/** The throughput of an API and its Postgres on two cores (bench/README.md, "Reads"). */
export const DEFAULT_RATE_RU = 100;

/** The cost of the cheapest request: a lower limit would admit none. */
export const LEAST_COST_RU = 0.1;

/** Limits are counted in hundredths, which are then exact as numbers and fit into a bigint. */
export const MAX_LIMIT_RU = 1e12;

export const DEFAULT_CONCURRENCY = 128;

/** One day. Longer limits are quotas. */
export const MAX_WINDOW_SECONDS = 86_400;

/** Returns `kdp_` and 64 hex digits. */
function generateKey(): string {
  return `kdp_${randomBytes(32).toString('hex')}`;
}

/** Returns the SHA-256 of a key, which is stored. */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Creates a key and returns it. It cannot be read again. */
export async function createKey(db: Kysely<Database>, newKey: NewKey): Promise<{ id: bigint; key: string }> {
  const key = generateKey();
  const { id } = await db
    .insertInto('api_keys')
    .values({
      name: newKey.name,
      key_hash: hashKey(key),
      rate_ru: newKey.rateRu ?? DEFAULT_RATE_RU,
      window_seconds: newKey.windowSeconds ?? 1,
      quota_ru: newKey.quota?.ru ?? null,
      quota_period: newKey.quota?.period ?? null,
      concurrency: newKey.concurrency ?? DEFAULT_CONCURRENCY,
      read_only: newKey.readOnly ?? false,
      expires_at: newKey.expiresAt ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, key };
}

/**
 * Returns the key with this hash, unless it was revoked or has expired.
 * @param now determines the current period of the quota
 */
export async function findKey(
  db: Kysely<Database>,
  keyHash: Uint8Array,
  now = new Date(),
): Promise<KeyInForce | undefined> {
  const [key] = await findKeys(db, [keyHash], now);
  return key;
}

/** Returns the hashes of keys by their ids, also of those that are not in force. */
export async function findKeyHashes(db: Kysely<Database>, ids: readonly bigint[]): Promise<Map<bigint, Uint8Array>> {
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'key_hash'])
    .where('id', '=', sql<bigint>`any(${ids}::bigint[])`)
    .execute();
  return new Map(rows.map(({ id, key_hash: hash }) => [id, hash]));
}

/** Returns the keys with these hashes that are neither revoked nor expired, in any order. */
export async function findKeys(
  db: Kysely<Database>,
  keyHashes: readonly Uint8Array[],
  now = new Date(),
): Promise<KeyInForce[]> {
  const firstDay = sql<string>`case quota_period
    when 'day' then ${firstDayOf('day', now)}::date
    when 'month' then ${firstDayOf('month', now)}::date end`;
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .select((eb) => [
      firstDay.as('used_since'),
      eb
        .selectFrom('api_key_usage')
        .select(sql<string>`coalesce(sum(ru), 0)`.as('ru'))
        .whereRef('api_key_id', '=', 'api_keys.id')
        .where('day', '>=', firstDay)
        .as('used_ru'),
    ])
    .where('key_hash', '=', sql<Buffer>`any(${keyHashes}::bytea[])`)
    .where('revoked_at', 'is', null)
    .where(sql<boolean>`coalesce(expires_at > now(), true)`)
    .execute();
  return rows.map((row) => {
    const key = toApiKey(row);
    const used = key.quota && { ru: Number(row.used_ru), since: row.used_since };
    return { ...key, keyHash: row.key_hash, used };
  });
}

/** Returns all keys, oldest first, including revoked ones. */
export async function listKeys(db: Kysely<Database>): Promise<KeyRecord[]> {
  const rows = await db.selectFrom('api_keys').selectAll().orderBy('id').execute();
  return rows.map(toKeyRecord);
}

/** Revokes a key permanently. Returns false if there is no valid key with this id. */
export async function revokeKey(db: Kysely<Database>, id: bigint): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

type KeyRow = Selectable<Database['api_keys']>;

function toKeyRecord(row: KeyRow): KeyRecord {
  return {
    ...toApiKey(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}

function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    rateRu: Number(row.rate_ru),
    windowSeconds: row.window_seconds,
    quota: row.quota_ru === null ? undefined : { ru: Number(row.quota_ru), period: row.quota_period as QuotaPeriod },
    concurrency: row.concurrency,
    readOnly: row.read_only,
  };
}
