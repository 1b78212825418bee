/** Webhooks in the database: what their owners see and change. All of it is on the primary. */
import { type Database, notifyStatement } from '@kasgres/database';
import { type Awaitable, conflict, type Db } from '@kasgres/reads';
import { type RawBuilder, sql, type Transaction } from 'kysely';

const MAX_WEBHOOKS_PER_KEY = 20;
export const ROTATION_HOURS = 24;

export const WEBHOOK_EVENTS = ['chain', 'address', 'covenant'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export interface NewWebhook {
  keyId: bigint;
  url: string;
  events: readonly WebhookEvent[];
  addresses: readonly string[];
  covenants: readonly string[];
  template: string | undefined;
  confirmations: number | undefined;
  withIds: boolean;
  /** The block to begin after. */
  cursor: string;
  /** Encrypted. */
  secret: Buffer;
}

export interface Webhook {
  id: bigint;
  /** Grows with each change by its owner. */
  revision: number;
  url: string;
  events: WebhookEvent[];
  addresses: string[];
  covenants: string[];
  template: string | null;
  confirmations: number | null;
  withIds: boolean;
  status: 'active' | 'disabled';
  statusReason: string | null;
  cursor: string;
  sequence: bigint;
  failures: number;
  failingSince: Date | null;
  /** When the pending delivery is attempted next; null without one. */
  nextAttemptAt: Date | null;
  createdAt: Date;
}

export interface Delivery {
  id: bigint;
  sequence: bigint | null;
  cursor: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  statusCode: number | null;
  latencyMs: number | null;
  error: string | null;
  createdAt: Date;
  attemptedAt: Date | null;
  deliveredAt: Date | null;
}

export interface WebhookChanges {
  url?: string | undefined;
  addresses?: readonly string[] | undefined;
  covenants?: readonly string[] | undefined;
  template?: string | null | undefined;
  status?: 'active' | 'disabled' | undefined;
}

/**
 * Applies after a success, or a change by the owner: the next delivery is attempted without a
 * pause.
 */
export const NO_FAILURES = sql`failures = 0, failing_since = null, failing_ms = 0,
  next_attempt_at = null, pause_ms = 0`;

/** Tells `kasgres webhooks` of changes by owners. */
const notify = sql.raw(notifyStatement('webhooks'));

export class WebhookStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** @throws HttpError 409 if the key has too many */
  async create(webhook: NewWebhook): Promise<bigint> {
    return this.#andNotify(async (db) => {
      // One request of a key at a time, so that the count holds.
      await sql`select pg_advisory_xact_lock(hashtext('webhooks of a key'),
        ${Number(webhook.keyId % 2n ** 31n)})`.execute(db);
      const { rows: counted } = await sql<{ count: bigint }>`
        select count(*) from webhooks where api_key_id = ${webhook.keyId}`.execute(db);
      if (Number(counted[0]?.count) >= MAX_WEBHOOKS_PER_KEY) {
        throw conflict(`A key has at most ${MAX_WEBHOOKS_PER_KEY} webhooks: delete one first`);
      }
      const { rows } = await sql<{ id: bigint }>`
        insert into webhooks (api_key_id, url, events, addresses, covenants, template,
          confirmations, with_ids, cursor, secret)
        values (${webhook.keyId}, ${webhook.url}, ${[...webhook.events]}::text[],
          ${[...webhook.addresses]}::text[],
          ${[...webhook.covenants]}::text[], ${webhook.template ?? null},
            ${webhook.confirmations ?? null}, ${webhook.withIds}, decode(${webhook.cursor}, 'hex'), ${webhook.secret})
        returning id`.execute(db);
      return (rows[0] as { id: bigint }).id;
    });
  }

  /** Lists the webhooks of a key, or one of them, oldest first. */
  async list(keyId: bigint, id?: bigint): Promise<Webhook[]> {
    const { rows } = await sql<Webhook>`
      select w.id, w.revision, url, events, addresses, covenants, template, confirmations,
        with_ids as "withIds", status, status_reason as "statusReason",
        encode(w.cursor, 'hex') as cursor, w.sequence, failures, failing_since as "failingSince",
        case when d.id is not null and status = 'active'
          then coalesce(least(next_attempt_at, now() + make_interval(secs => pause_ms / 1000.0)),
            d.created_at) end as "nextAttemptAt", w.created_at as "createdAt"
      from webhooks w left join webhook_deliveries d on d.webhook_id = w.id and d.is_pending
        and d.sequence is not null
      where api_key_id = ${keyId} ${id === undefined ? sql`` : sql`and w.id = ${id}`}
        order by w.id`.execute(this.#db);
    return rows;
  }

  /**
   * Returns whether there is such a webhook. Activating one attempts its pending delivery at once.
   * @param changesOf called again if the webhook was changed meanwhile; its error is thrown
   */
  async update(
    keyId: bigint,
    id: bigint,
    changesOf: (webhook: Webhook) => Awaitable<WebhookChanges>,
  ): Promise<boolean> {
    return this.#changeBasedOn(keyId, id, async (webhook) => {
      const { url, addresses, covenants, template, status } = await changesOf(webhook);
      return sql`
      update webhooks set revision = revision + 1
        ${url === undefined ? sql`` : sql`, url = ${url}`}
        ${addresses === undefined ? sql`` : sql`, addresses = ${[...addresses]}::text[]`}
        ${covenants === undefined ? sql`` : sql`, covenants = ${[...covenants]}::text[]`}
        ${template === undefined ? sql`` : sql`, template = ${template}`}
        ${
          status === undefined
            ? sql``
            : sql`, status = ${status}, status_reason = ${status === 'active' ? null : 'disabled by its owner'},
                ${NO_FAILURES}`
        }
      where id = ${id}`;
    });
  }

  async delete(keyId: bigint, id: bigint): Promise<boolean> {
    return this.#change(
      keyId,
      id,
      sql`
      with log as (delete from webhook_deliveries where webhook_id = ${id})
      delete from webhooks where id = ${id}`,
    );
  }

  /** The secret before signs for another day. @param secret encrypted */
  async rotate(keyId: bigint, id: bigint, secret: Buffer): Promise<boolean> {
    return this.#change(
      keyId,
      id,
      sql`
      update webhooks set previous_secret = secret,
        previous_secret_until = now() + make_interval(hours => ${ROTATION_HOURS}),
        secret = ${secret}, revision = revision + 1
      where id = ${id}`,
    );
  }

  /**
   * Continues from another block. The pending delivery is given up, and its number is not used
   * again: it may have arrived.
   * @param cursorOf called again if the webhook was changed meanwhile; its error is thrown
   */
  async replay(keyId: bigint, id: bigint, cursorOf: (webhook: Webhook) => Awaitable<string>): Promise<boolean> {
    return this.#changeBasedOn(keyId, id, async (webhook) => {
      const cursor = await cursorOf(webhook);
      return sql`
      with given_up as (
        update webhook_deliveries
          set is_pending = false, body = null, error = 'given up: replayed from another block'
        where webhook_id = ${id} and is_pending and sequence is not null returning sequence)
      update webhooks set cursor = decode(${cursor}, 'hex'), revision = revision + 1,
        sequence = coalesce((select max(sequence) from given_up), sequence), ${NO_FAILURES}
      where id = ${id}`;
    });
  }

  /**
   * Adds a delivery without events, which is attempted once. If one is already pending, adds
   * nothing and returns its id. Returns undefined without such a webhook.
   */
  async test(keyId: bigint, id: bigint, body: (cursor: string) => string): Promise<bigint | undefined> {
    return this.#andNotify(async (db) => {
      // The lock makes concurrent requests see the test that one of them adds.
      const { rows: locked } = await sql<{ cursor: string }>`
        select encode(cursor, 'hex') as cursor from webhooks
          where api_key_id = ${keyId} and id = ${id} for update`.execute(db);
      const [webhook] = locked;
      if (webhook === undefined) return undefined;
      const { rows: pending } = await sql<{ id: bigint }>`
        select id from webhook_deliveries
          where webhook_id = ${id} and is_pending and sequence is null limit 1`.execute(db);
      if (pending[0] !== undefined) return pending[0].id;
      const { rows } = await sql<{ id: bigint }>`
        insert into webhook_deliveries (webhook_id, cursor, body)
        values (${id}, decode(${webhook.cursor}, 'hex'), ${body(webhook.cursor)})
          returning id`.execute(db);
      return (rows[0] as { id: bigint }).id;
    });
  }

  /** Lists deliveries, newest first; undefined without such a webhook. */
  async listDeliveries(keyId: bigint, id: bigint, limit: number): Promise<Delivery[] | undefined> {
    const [webhook] = await this.list(keyId, id);
    if (webhook === undefined) return undefined;
    const { rows } = await sql<Delivery>`
      select id, sequence, encode(cursor, 'hex') as cursor, attempts, status_code as "statusCode",
        latency_ms as "latencyMs", error, case when is_pending then 'pending'
          when delivered_at is null then 'failed' else 'delivered' end as status,
        created_at as "createdAt", attempted_at as "attemptedAt", delivered_at as "deliveredAt"
      from webhook_deliveries where webhook_id = ${id} order by id desc
        limit ${limit}`.execute(this.#db);
    return rows;
  }

  /**
   * Like `#change`, with a statement that depends on the webhook. What it was based on is checked
   * under the lock.
   */
  async #changeBasedOn(
    keyId: bigint,
    id: bigint,
    statementOf: (webhook: Webhook) => Promise<RawBuilder<unknown>>,
  ): Promise<boolean> {
    for (;;) {
      const [webhook] = await this.list(keyId, id);
      if (webhook === undefined) return false;
      const isChanged = await this.#change(keyId, id, await statementOf(webhook), webhook.revision);
      if (isChanged) return true;
    }
  }

  /**
   * Runs a statement that changes a webhook, if the key has it, and it has this revision. The lock
   * is a separate statement, so that the other one sees what was changed while the lock was waited
   * for, such as a delivery that was added.
   */
  async #change(keyId: bigint, id: bigint, statement: RawBuilder<unknown>, revision?: number): Promise<boolean> {
    return this.#andNotify(async (db) => {
      const { rows } = await sql`
        select from webhooks where api_key_id = ${keyId} and id = ${id}
          ${revision === undefined ? sql`` : sql`and revision = ${revision}`} for update`.execute(db);
      if (rows.length === 0) return false;
      await statement.execute(db);
      return true;
    });
  }

  /**
   * Notifies after the commit: if the queue of notifications is full, the deliverer sees the change
   * a second later.
   */
  async #andNotify<Result>(change: (db: Transaction<Database>) => Promise<Result>): Promise<Result> {
    const result = await this.#db.transaction().execute(change);
    await notify.execute(this.#db).catch(() => undefined);
    return result;
  }
}
