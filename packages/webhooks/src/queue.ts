/**
 * The rows that `kasgres webhooks` reads and writes: which webhooks have something to do, their
 * deliveries, and the outcome of attempts.
 */
import { type Db } from '@kasgres/reads';
import { sql } from 'kysely';
import type { Outcome } from './attempt.ts';
import { NO_FAILURES, ROTATION_HOURS, type WebhookEvent } from './store.ts';

const LOGGED_DELIVERIES = 100;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 900_000;
const JITTER = 0.2;
const GIVE_UP_HOURS = 72;
const GIVE_UP_MS = GIVE_UP_HOURS * 3_600_000;
const GONE = 410;
/**
 * Bytes of the bodies that one statement stores: its time is limited, and Postgres refuses more
 * than 268 MB of texts in one jsonb.
 */
const BATCH_BYTES = 8 * 2 ** 20;

/** An active webhook of a valid key. */
export interface ActiveWebhook {
  id: bigint;
  keyId: bigint;
  revision: number;
  cursor: string;
  sequence: bigint;
  failures: number;
  /** The delivery to attempt; null if the next step has not been read. */
  deliveryId: bigint | null;
  /**
   * Pause until that delivery may be attempted, in milliseconds, by the clock of the database;
   * never longer than the pause that was set.
   */
  dueInMs: number;
}

export interface PendingTest {
  id: bigint;
  webhookId: bigint;
  keyId: bigint;
}

export interface Definition {
  id: bigint;
  revision: number;
  events: WebhookEvent[];
  addresses: string[];
  covenants: string[];
  template: string | null;
  confirmations: number | null;
  withIds: boolean;
}

/** A delivery with what an attempt needs. */
export interface PendingDelivery {
  id: bigint;
  webhookId: bigint;
  sequence: bigint | null;
  cursor: string;
  body: string;
  url: string;
  /** The revision of its webhook when it was read. */
  revision: number;
  failures: number;
  secret: Buffer;
  previousSecret: Buffer | null;
}

export interface NewDelivery {
  webhookId: bigint;
  revision: number;
  sequence: bigint;
  /** The blocks that the step begins at and reaches. */
  previous: string;
  cursor: string;
  body: string;
}

const isValidKey = sql`exists (
  select from api_keys k where k.id = w.api_key_id and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now()))`;

/** Returns the pause after a number of failures in a row, in milliseconds, with jitter. */
export function retryPause(failures: number, random = Math.random()): number {
  const pause = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
  return Math.round(pause * (1 - JITTER + 2 * JITTER * random));
}

/** Splits deliveries into batches of up to BATCH_BYTES. A larger body is stored alone. */
function* batchesOf(deliveries: Iterable<NewDelivery>): Generator<NewDelivery[]> {
  let batch: NewDelivery[] = [];
  let bytes = 0;
  for (const delivery of deliveries) {
    const size = Buffer.byteLength(delivery.body);
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(delivery);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

export class WebhookQueue {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async listActive(): Promise<ActiveWebhook[]> {
    const { rows } = await sql<ActiveWebhook>`
      select w.id, w.api_key_id as "keyId", w.revision, encode(w.cursor, 'hex') as cursor,
        w.sequence, w.failures, d.id as "deliveryId",
        coalesce(least(greatest(extract(epoch from w.next_attempt_at - now()) * 1000, 0),
          w.pause_ms), 0)::float8 as "dueInMs"
      from webhooks w left join webhook_deliveries d on d.webhook_id = w.id and d.is_pending
        and d.sequence is not null
      where w.status = 'active' and ${isValidKey} order by w.id`.execute(this.#db);
    return rows;
  }

  /** Lists pending tests, oldest first. */
  async listTests(): Promise<PendingTest[]> {
    const { rows } = await sql<PendingTest>`
      select d.id, d.webhook_id as "webhookId", w.api_key_id as "keyId" from webhook_deliveries d
        join webhooks w on w.id = d.webhook_id
      where d.is_pending and d.sequence is null and ${isValidKey} order by d.id`.execute(this.#db);
    return rows;
  }

  async listDefinitions(ids: readonly bigint[]): Promise<Definition[]> {
    const { rows } = await sql<Definition>`
      select id, revision, events, addresses, covenants, template, confirmations,
        with_ids as "withIds" from webhooks
      where id = any(${[...ids]}::bigint[])`.execute(this.#db);
    return rows;
  }

  /** Returns undefined if it is no longer pending. */
  async findDelivery(id: bigint): Promise<PendingDelivery | undefined> {
    const { rows } = await sql<PendingDelivery>`
      select d.id, w.id as "webhookId", d.sequence, encode(d.cursor, 'hex') as cursor, d.body,
        w.url, w.revision, w.failures, w.secret, case when w.previous_secret_until > now()
          then w.previous_secret end as "previousSecret"
      from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where d.id = ${id} and d.is_pending`.execute(this.#db);
    return rows[0];
  }

  /**
   * Stores deliveries before their first attempt, except of webhooks that were changed or moved
   * meanwhile. They are stored in batches, each with one statement. After a failure between two
   * batches, the remaining webhooks have no delivery and their cursors have not moved, so their
   * step is read again.
   */
  async addDeliveries(deliveries: Iterable<NewDelivery>): Promise<void> {
    for (const batch of batchesOf(deliveries)) await this.#add(batch);
  }

  async #add(batch: readonly NewDelivery[]): Promise<void> {
    const given = batch.map(({ webhookId, sequence, ...rest }) => ({
      webhookId: String(webhookId),
      sequence: String(sequence),
      ...rest,
    }));
    // The conditions are checked again for a row that had to be waited for.
    await sql`
      with given as (
        select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
          given ("webhookId" bigint, revision integer, sequence bigint, previous text,
            cursor text, body text)),
      locked as (
        select w.id, w.sequence, given.cursor, given.body from webhooks w
          join given on given."webhookId" = w.id
        where w.revision = given.revision and w.sequence = given.sequence
          and w.cursor = decode(given.previous, 'hex') and w.status = 'active'
        order by w.id for update of w)
      insert into webhook_deliveries (webhook_id, sequence, cursor, body)
      select id, sequence + 1, decode(cursor, 'hex'), body from locked
      on conflict do nothing`.execute(this.#db);
  }

  /**
   * Moves the cursors of webhooks that a step has nothing for, except of those that were changed or
   * moved meanwhile.
   */
  async moveCursors(
    webhooks: readonly Pick<ActiveWebhook, 'id' | 'revision'>[],
    from: string,
    to: string,
  ): Promise<void> {
    if (webhooks.length === 0) return;
    const ids = webhooks.map(({ id }) => id);
    await this.#db.transaction().execute(async (db) => {
      // In a separate statement, so that the next one sees a delivery that was added while this one
      // waited.
      await sql`select from webhooks where id = any(${ids}::bigint[]) order by id for update`.execute(db);
      await sql`
        update webhooks w set cursor = decode(${to}, 'hex')
        from unnest(${ids}::bigint[],
          ${webhooks.map(({ revision }) => revision)}::integer[]) given (id, revision)
        where w.id = given.id and w.revision = given.revision and w.cursor = decode(${from}, 'hex')
          and w.status = 'active'
          and not exists (select from webhook_deliveries d
            where d.webhook_id = w.id and d.is_pending and d.sequence is not null)`.execute(db);
    });
  }

  /**
   * The cursor stays, so that its owner can continue from there or replay from elsewhere. Returns
   * false if the webhook was changed or moved meanwhile: it may have been replayed from a block
   * that can be followed.
   */
  async disable(
    { id, revision, cursor }: Pick<ActiveWebhook, 'id' | 'revision' | 'cursor'>,
    reason: string,
  ): Promise<boolean> {
    const { rows } = await sql`
      update webhooks set status = 'disabled', status_reason = ${reason}, revision = revision + 1
      where id = ${id} and revision = ${revision} and cursor = decode(${cursor}, 'hex')
        and status = 'active' returning id`.execute(this.#db);
    return rows.length > 0;
  }

  /**
   * Writes the outcome of an attempt, unless the delivery was given up meanwhile. Returns why the
   * webhook was disabled, if it was.
   */
  async finish(delivery: PendingDelivery, outcome: Outcome): Promise<string | null> {
    const isDelivered = outcome.error === null;
    const isTest = delivery.sequence === null;
    return this.#db.transaction().execute(async (db) => {
      // The webhook first, as its owner's changes do: otherwise they could deadlock.
      const { rows: locked } = await sql<{ revision: number }>`
        select revision from webhooks where id = ${delivery.webhookId} for update`.execute(db);
      if (locked.length === 0) return null;
      const { rows } = await sql`
        update webhook_deliveries
          set attempts = attempts + 1,
          attempted_at = now() - make_interval(secs => ${outcome.latencyMs / 1000}),
          status_code = ${outcome.statusCode}, latency_ms = ${outcome.latencyMs},
          error = ${outcome.error}
          ${isDelivered ? sql`, delivered_at = now()` : sql``}
          ${isDelivered || isTest ? sql`, is_pending = false, body = null` : sql``}
        where id = ${delivery.id} and is_pending returning id`.execute(db);
      if (rows.length === 0) return null;
      if (!isDelivered && !isTest) {
        // The failure is that of another URL or secret, or its owner has cleared the failures: the
        // next attempt counts.
        if (locked[0]?.revision !== delivery.revision) return null;
        return this.#noteFailure(db, delivery, outcome);
      }
      if (!isTest) await this.#advance(db, delivery);
      await this.#pruneLog(db, delivery.webhookId);
      return null;
    });
  }

  async #advance(db: Db, delivery: PendingDelivery): Promise<void> {
    await sql`
      update webhooks set cursor = decode(${delivery.cursor}, 'hex'),
        sequence = ${delivery.sequence}, ${NO_FAILURES}
      where id = ${delivery.webhookId}`.execute(db);
  }

  async #pruneLog(db: Db, webhookId: bigint): Promise<void> {
    await sql`
      delete from webhook_deliveries where webhook_id = ${webhookId} and not is_pending and id <= (
        select id from webhook_deliveries where webhook_id = ${webhookId}
          order by id desc offset ${LOGGED_DELIVERIES} limit 1)`.execute(db);
  }

  /**
   * The time of failing is a sum of attempts and pauses, since the clock may be changed, and nobody
   * may have tried for days.
   */
  async #noteFailure(db: Db, delivery: PendingDelivery, outcome: Outcome): Promise<string | null> {
    const pauseMs = Math.round(Math.max(retryPause(delivery.failures + 1), outcome.retryAfterMs ?? 0));
    const isGone = outcome.statusCode === GONE;
    const { rows } = await sql<{ status: string; reason: string | null }>`
      with failed as (
        select ${isGone}::boolean as is_gone,
          failing_ms + pause_ms + ${outcome.latencyMs}::bigint as tried_ms
        from webhooks where id = ${delivery.webhookId})
      update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, now()),
        failing_ms = tried_ms, next_attempt_at = now() + make_interval(secs => ${pauseMs / 1000}),
        pause_ms = ${pauseMs}, status = case when is_gone or tried_ms >= ${GIVE_UP_MS}
          then 'disabled' else status end,
        status_reason = case when is_gone then 'the receiver responded 410'
          when tried_ms >= ${GIVE_UP_MS} then ${`no delivery succeeded for ${GIVE_UP_HOURS} hours`}
            else status_reason end
      from failed where id = ${delivery.webhookId}
        returning status, status_reason as reason`.execute(db);
    return rows[0]?.status === 'disabled' ? rows[0].reason : null;
  }

  /**
   * Shortens what the rotation of a secret left valid for longer than a rotation does, as after the
   * clock was set back.
   */
  async limitPreviousSecrets(): Promise<void> {
    await sql`
      update webhooks set previous_secret_until = now() + make_interval(hours => ${ROTATION_HOURS})
      where previous_secret_until > now() + make_interval(hours => ${ROTATION_HOURS})`.execute(this.#db);
  }

  /** Numbers for metrics. */
  async count(): Promise<{ active: number; disabled: number; lagSeconds: number }> {
    const { rows } = await sql<{ active: number; disabled: number; lag: number }>`
      select count(*) filter (where w.status = 'active' and ${isValidKey})::integer as active,
        count(*) filter (where w.status = 'disabled')::integer as disabled,
        greatest(extract(epoch from now() - min(d.created_at) filter (where w.status = 'active'
          and ${isValidKey})), 0)::float8 as lag
      from webhooks w left join webhook_deliveries d on d.webhook_id = w.id and d.is_pending
        and d.sequence is not null`.execute(this.#db);
    const [row] = rows;
    return { active: row?.active ?? 0, disabled: row?.disabled ?? 0, lagSeconds: row?.lag ?? 0 };
  }
}
