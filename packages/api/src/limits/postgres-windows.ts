/**
 * Counts windows in the table rate_limits, for all API processes on one database. Check and charge
 * are one statement under the lock of the row, and the clock of the database decides when a window
 * has closed. Requests that arrive while a statement runs share the next one, with a row per
 * bucket: a flood of requests costs two or three statements, and no bucket delays another. The
 * statements are prepared, since planning would take four times as long as running them. Refunds
 * are summed up and written before later charges.
 *
 * If a statement fails, or its outcome is unknown, its requests are refused with a 503. They are
 * not counted elsewhere and nothing is refunded, so that the limit always holds.
 */
import type { Connection } from '@kasgres/database';
import { unavailable } from '@kasgres/reads';
import { Batches } from './batches.ts';
import type { WindowLimit, Windows, WindowState } from './windows.ts';

const MAX_PENDING = 5000;
/** After a failure, requests are refused at once for this time. */
const PAUSE_MS = 500;
/** How long a refused bucket is refused from memory if the cost does not fit either. */
const REFUSAL_LIFE_MS = 1000;
const MAX_REFUSALS = 10_000;
/** Twice at most: for a bucket whose row another process inserted meanwhile. */
const MAX_ATTEMPTS = 3;

interface PendingCharge {
  bucket: string;
  limit: WindowLimit;
  cost: number;
}

interface Refusal {
  remaining: number;
  window: number;
  endsAt: number;
  validUntil: number;
}

interface BucketRow {
  key: string;
  granted: bigint;
  /** The rest of the window before the grant. Negative after a limit was lowered. */
  available: bigint;
  window: bigint;
  ends_in_ms: bigint;
}

/**
 * Charges each bucket as much of its sum as fits, in multiples of the unit. Rows are locked in the
 * order of their keys, and locked before any is inserted, which prevents deadlocks.
 * statement_timestamp() is constant within a statement. A bucket whose row another statement
 * inserts meanwhile is not in the result.
 */
const CHARGE = `
  with clock as (
    select (extract(epoch from statement_timestamp()) * 1000)::bigint as now
  ), requested as (
    select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
      as requested (key, cost, unit, allowed, duration)
  ), held as (
    select key, points, expire from rate_limits where key = any($1::text[]) order by key for update
  ), opened as (
    select requested.key, cost, unit, allowed, held.key is not null as has_row, clock.now,
      case when is_open then held.points else 0 end as points,
      case when is_open then held.expire else clock.now + duration end as expire
    from requested cross join clock left join held on held.key = requested.key
      -- A window that ends later than a new one would was opened before the clock was set back, or its limit was changed.
      cross join lateral (select held.expire > clock.now
        and held.expire <= clock.now + duration as is_open) opened
  ), granted as (
    select *, least(cost, greatest(allowed - points, 0) / unit * unit) as points_granted from opened
  ), updated as (
    update rate_limits set points = granted.points + points_granted, expire = granted.expire
    from granted where rate_limits.key = granted.key and has_row and points_granted > 0
  ), inserted as (
    insert into rate_limits (key, points, expire)
    select key, points_granted, expire from granted where not has_row and points_granted > 0
      order by key
    on conflict do nothing
    returning key
  )
  select key, points_granted as granted, allowed - points as available,
    expire as window, expire - now as ends_in_ms
  from granted where has_row or points_granted = 0 or key in (select key from inserted)`;

const SWEEP_EVERY_MS = 60_000;
/**
 * Rows that one statement deletes: its time is limited, and clients without a key have a row for
 * each of their addresses.
 */
const SWEPT_ROWS = 10_000;
/** Skips locked rows, since waiting for them out of order could deadlock. */
const SWEEP = `
  delete from rate_limits where key in (
    select key from rate_limits
      where expire < extract(epoch from now()) * 1000 - 60000
      limit $1 for update skip locked
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
  update rate_limits held set points = held.points - locked.points from locked
    where held.key = locked.key`;

interface Refund {
  bucket: string;
  window: number;
  cost: number;
}

export class PostgresWindows implements Windows {
  readonly #pool: Connection['pool'];
  readonly #onFailure: (error: unknown) => void;
  readonly #refusals = new Map<string, Refusal>();
  readonly #charges = new Batches<PendingCharge, WindowState>({
    run: (charges) => this.#chargeAll(charges),
    maxItems: MAX_PENDING,
    maxPending: MAX_PENDING,
    busy: storeUnavailable,
  });
  #refunds = new Map<string, Refund>();
  #refunding: Promise<void> | undefined;
  #pausedUntil = 0;
  #sweptAt = performance.now();

  constructor(pool: Connection['pool'], onFailure: (error: unknown) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
  }

  async charge(bucket: string, limit: WindowLimit, cost: number): Promise<WindowState> {
    return this.#findRefusal(bucket, cost) ?? this.#charges.add({ bucket, limit, cost });
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
      const values = [
        refunds.map(({ bucket }) => bucket),
        refunds.map(({ window }) => window),
        refunds.map(({ cost }) => cost),
      ];
      await this.#pool.query({ name: 'refund rate limits', text: REFUND, values }).catch(this.#onFailure);
    }
    this.#refunding = undefined;
  }

  async #chargeAll(charges: PendingCharge[]): Promise<WindowState[]> {
    if (performance.now() < this.#pausedUntil) throw storeUnavailable();
    await this.#refunding;
    const waiting = Map.groupBy(charges, ({ bucket }) => bucket);
    const states = new Map<PendingCharge, WindowState>();
    try {
      for (let attempt = 0; waiting.size > 0; attempt += 1) {
        if (attempt === MAX_ATTEMPTS) throw new Error('Rows of rate_limits appear and disappear');
        for (const row of await this.#query(waiting)) {
          this.#settle(row, waiting.get(row.key) ?? [], states);
          waiting.delete(row.key);
        }
      }
    } catch (error) {
      this.#pausedUntil = performance.now() + PAUSE_MS;
      this.#onFailure(error);
      throw storeUnavailable(error);
    }
    this.#sweepIfDue();
    return charges.map((charge) => states.get(charge) as WindowState);
  }

  /** Only charges make rows, so nothing has to be removed without them. */
  #sweepIfDue(): void {
    const now = performance.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    void this.#sweep().catch(this.#onFailure);
  }

  async #sweep(): Promise<void> {
    let swept: number | null;
    do ({ rowCount: swept } = await this.#pool.query(SWEEP, [SWEPT_ROWS]));
    while (swept === SWEPT_ROWS);
  }

  async #query(byBucket: ReadonlyMap<string, readonly PendingCharge[]>): Promise<BucketRow[]> {
    const requested = [...byBucket.values()].map((charges) => ({
      cost: sumOf(charges),
      unit: charges.reduce((unit, { cost }) => greatestCommonDivisor(unit, cost), 0) || 1,
      limit: limitOf(charges),
    }));
    const values = [
      [...byBucket.keys()],
      requested.map(({ cost }) => cost),
      requested.map(({ unit }) => unit),
      requested.map(({ limit }) => Math.min(limit.hundredths, Number.MAX_SAFE_INTEGER)),
      requested.map(({ limit }) => limit.seconds * 1000),
    ];
    const { rows } = await this.#pool.query<BucketRow>({ name: 'charge rate limits', text: CHARGE, values });
    return rows;
  }

  /**
   * Divides what a bucket was granted among its charges, in their order, and refunds what fits none
   * of them.
   */
  #settle(row: BucketRow, charges: readonly PendingCharge[], states: Map<PendingCharge, WindowState>): void {
    const [window, endsInMs] = [Number(row.window), Math.max(Number(row.ends_in_ms), 0)];
    let granted = Number(row.granted);
    let remaining = Math.max(Number(row.available), 0);
    let isRefused = false;
    for (const charge of charges) {
      const charged = charge.cost <= granted;
      if (charged) {
        granted -= charge.cost;
        remaining -= charge.cost;
      } else isRefused = true;
      states.set(charge, { charged, remaining, window, endsInMs });
    }
    if (granted > 0) this.refund(row.key, window, granted);
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

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}

/** The latest limit applies, since keys can be changed. */
const limitOf = (charges: readonly PendingCharge[]): WindowLimit => (charges.at(-1) as PendingCharge).limit;

const storeUnavailable = (cause?: unknown) => unavailable('The shared rate limits are out of reach', 1, cause);
