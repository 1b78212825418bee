/**
 * Counts windows in the table rate_limits, for all API processes on one database. Check and charge are one statement under the lock of the row,
 * and the clock of the database decides when a window has closed. Requests that arrive while a statement runs share the next one, with a row per
 * bucket: a flood of requests costs two or three statements, and no bucket delays another. Refunds are summed up and written before later charges.
 *
 * If a statement fails, or its outcome is unknown, its requests are refused with a 503. They are not counted elsewhere and nothing is refunded, so
 * that the limit always holds.
 */
import type { Connection } from '@kasgres/database';
import { Batches } from '../batches.ts';
import { unavailable } from '../http/errors.ts';
import type { WindowLimit, Windows, WindowState } from './windows.ts';

const MAX_PENDING = 5000;
/** After a failure, requests are refused at once for this time. */
const PAUSE_MS = 500;
/** How long a refused bucket is refused from memory if the cost does not fit either. */
const REFUSAL_LIFE_MS = 1000;
const MAX_REFUSALS = 10_000;
/** Statements of other processes may come between. A request that lost this often is refused. */
const MAX_ATTEMPTS = 5;

interface PendingCharge {
  bucket: string;
  limit: WindowLimit;
  cost: number;
}

/** `fits` is set for a charge that was refused only together with others. */
type Outcome = WindowState & { fits: boolean };

interface Refusal {
  remaining: number;
  window: number;
  endsAt: number;
  validUntil: number;
}

interface BucketRow {
  key: string;
  charged: boolean;
  points: bigint;
  window: bigint;
  ends_in_ms: bigint;
}

/** statement_timestamp() is constant within a statement. Rows are locked in the order of their keys, which prevents deadlocks. */
const CHARGE = `
  with clock as (
    select (extract(epoch from statement_timestamp()) * 1000)::bigint as now
  ), requested as (
    select key, cost, allowed, clock.now + duration as expire, clock.now
    from clock, unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as requested (key, cost, allowed, duration)
  ), charged as (
    insert into rate_limits as held (key, points, expire)
    select key, cost, expire from requested where cost <= allowed order by key
    on conflict (key) do update set
      points = excluded.points + case when held.expire > (select now from clock) then held.points else 0 end,
      expire = case when held.expire > (select now from clock) then held.expire else excluded.expire end
    where held.expire <= (select now from clock)
      or held.points + excluded.points <= (select allowed from requested where requested.key = held.key)
    returning key, points, expire
  )
  select requested.key, charged.key is not null as charged,
    coalesce(charged.points, held.points, 0) as points,
    coalesce(charged.expire, held.expire, requested.expire) as window,
    coalesce(charged.expire, held.expire, requested.expire) - requested.now as ends_in_ms
  from requested
  left join charged on charged.key = requested.key
  left join rate_limits held on held.key = requested.key and held.expire > requested.now`;

const SWEEP_EVERY_MS = 300_000;
/** Skips locked rows, since waiting for them out of order could deadlock. */
const SWEEP = `
  delete from rate_limits where key in (
    select key from rate_limits where expire < extract(epoch from now()) * 1000 - 60000 for update skip locked
  )`;

/** Refunds beyond this number are dropped, which keeps the limit. */
const MAX_REFUNDS = 10_000;
/** Locks rows in the order of their keys, too. A window that has closed gets no refund. */
const REFUND = `
  with refund as (
    select * from unnest($1::text[], $2::bigint[], $3::bigint[]) as refund (key, expire, points)
  ), locked as (
    select held.key, refund.points
    from rate_limits held join refund on refund.key = held.key and refund.expire = held.expire
    order by held.key for update of held
  )
  update rate_limits held set points = held.points - locked.points from locked where held.key = locked.key`;

interface Refund {
  bucket: string;
  window: number;
  cost: number;
}

export class PostgresWindows implements Windows {
  readonly #pool: Connection['pool'];
  readonly #onFailure: (error: unknown) => void;
  readonly #refusals = new Map<string, Refusal>();
  readonly #charges = new Batches<PendingCharge, Outcome>({
    run: (charges) => this.#chargeAll(charges),
    maxItems: MAX_PENDING,
    maxPending: MAX_PENDING,
    busy: storeUnavailable,
  });
  #refunds = new Map<string, Refund>();
  #refunding: Promise<void> | undefined;
  #pausedUntil = 0;

  constructor(pool: Connection['pool'], onFailure: (error: unknown) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
    setInterval(() => void pool.query(SWEEP).catch(onFailure), SWEEP_EVERY_MS).unref();
  }

  async charge(bucket: string, limit: WindowLimit, cost: number): Promise<WindowState> {
    const known = this.#findRefusal(bucket, cost);
    if (known !== undefined) return known;
    for (let attempt = 0; ; attempt += 1) {
      const { fits, ...state } = await this.#charges.add({ bucket, limit, cost });
      if (state.charged || !fits || attempt === MAX_ATTEMPTS) return state;
    }
  }

  refund(bucket: string, window: number, cost: number): void {
    const name = `${window} ${bucket}`;
    const known = this.#refunds.get(name);
    if (known !== undefined) known.cost += cost;
    else if (this.#refunds.size < MAX_REFUNDS) this.#refunds.set(name, { bucket, window, cost });
    this.#refunding ??= this.#refundAll();
  }

  /** A failed statement is not retried, since it may have been committed. */
  async #refundAll(): Promise<void> {
    while (this.#refunds.size > 0) {
      const refunds = [...this.#refunds.values()];
      this.#refunds = new Map();
      const columns = [
        refunds.map(({ bucket }) => bucket),
        refunds.map(({ window }) => window),
        refunds.map(({ cost }) => cost),
      ];
      await this.#pool.query(REFUND, columns).catch(this.#onFailure);
    }
    this.#refunding = undefined;
  }

  async #chargeAll(charges: PendingCharge[]): Promise<Outcome[]> {
    if (performance.now() < this.#pausedUntil) throw storeUnavailable();
    await this.#refunding;
    const byBucket = Map.groupBy(charges, ({ bucket }) => bucket);
    const requested = [...byBucket.values()].map((ofBucket) => ({ cost: sumOf(ofBucket), limit: limitOf(ofBucket) }));
    const outcomes = new Map<PendingCharge, Outcome>();
    try {
      const { rows } = await this.#pool.query<BucketRow>(CHARGE, [
        [...byBucket.keys()],
        requested.map(({ cost }) => cost),
        requested.map(({ limit }) => Math.min(limit.hundredths, Number.MAX_SAFE_INTEGER)),
        requested.map(({ limit }) => limit.seconds * 1000),
      ]);
      for (const row of rows) this.#settle(row, byBucket.get(row.key) ?? [], outcomes);
    } catch (error) {
      this.#pausedUntil = performance.now() + PAUSE_MS;
      this.#onFailure(error);
      throw storeUnavailable(error);
    }
    return charges.map((charge) => outcomes.get(charge) as Outcome);
  }

  /** The charges of a bucket succeed or fail together. After a failure, those that fit into what is left are retried without the others. */
  #settle(row: BucketRow, charges: readonly PendingCharge[], outcomes: Map<PendingCharge, Outcome>): void {
    const { charged } = row;
    const [window, endsInMs] = [Number(row.window), Math.max(Number(row.ends_in_ms), 0)];
    const before = Number(row.points) - (charged ? sumOf(charges) : 0);
    let remaining = Math.max(limitOf(charges).hundredths - before, 0);
    let isRefused = false;
    for (const charge of charges) {
      const fits = charged || charge.cost <= remaining;
      if (fits) remaining -= charge.cost;
      else isRefused = true;
      outcomes.set(charge, { charged, fits, remaining, window, endsInMs });
    }
    if (!isRefused) return;
    const now = performance.now();
    const endsAt = now + endsInMs;
    if (this.#refusals.size >= MAX_REFUSALS) this.#refusals.clear();
    this.#refusals.set(row.key, { remaining, window, endsAt, validUntil: Math.min(endsAt, now + REFUSAL_LIFE_MS) });
  }

  #findRefusal(bucket: string, cost: number): WindowState | undefined {
    const refusal = this.#refusals.get(bucket);
    if (refusal === undefined) return undefined;
    const { remaining, window, endsAt, validUntil } = refusal;
    const now = performance.now();
    if (now < validUntil && cost > remaining) return { charged: false, remaining, window, endsInMs: endsAt - now };
    if (now >= validUntil) this.#refusals.delete(bucket);
    return undefined;
  }
}

const sumOf = (charges: readonly PendingCharge[]): number => charges.reduce((sum, { cost }) => sum + cost, 0);

/** The latest limit applies, since keys can be changed. */
const limitOf = (charges: readonly PendingCharge[]): WindowLimit => (charges.at(-1) as PendingCharge).limit;

const storeUnavailable = (cause?: unknown) => unavailable('The shared rate limits are out of reach', 1, cause);
