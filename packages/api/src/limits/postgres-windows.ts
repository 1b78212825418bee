/**
 * Windows in the table rate_limits, for all API processes on one database. Check and charge are one statement under the row's lock, and
 * the database's clock tells when a window has ended. Whatever waits while a statement runs goes into the next one, a row a bucket:
 * a flood of requests costs two or three statements, and one bucket cannot delay another. What is given back meanwhile is summed up and goes
 * out before them, in one statement too.
 *
 * If a statement fails, or its outcome is unknown, its requests are refused with a 503. They are not counted elsewhere, and nothing is
 * given back for them, so that the limit holds whatever the store does.
 */
import type { Connection } from '@kasgres/database';
import { unavailable } from '../http/errors.ts';
import type { WindowLimit, Windows, WindowState } from './windows.ts';

/** Requests that may wait for a statement. */
const MAX_WAITING = 5000;
/** After a failure requests are refused at once for this long, so that none waits for a store that is known to be away. */
const PAUSE_MS = 500;
/** A bucket that was refused is refused from memory in the meantime if it asks for as much again. */
const REFUSAL_KNOWN_MS = 1000;
const MAX_REFUSALS_KNOWN = 10_000;
/** Other processes may charge between two statements. A request that lost so often is refused. */
const MAX_ATTEMPTS = 5;

interface Demand {
  bucket: string;
  limit: WindowLimit;
  cost: number;
  attempts: number;
  resolve: (state: WindowState) => void;
  reject: (error: unknown) => void;
}

interface Refusal {
  remaining: number;
  window: number;
  endsAt: number;
  knownUntil: number;
}

/** What the statement says of a bucket. */
interface Row {
  key: string;
  charged: boolean;
  points: bigint;
  window: bigint;
  ends_in_ms: bigint;
}

/** statement_timestamp() is one moment throughout a statement. Rows are locked in the order of their keys, so there are no deadlocks. */
const CHARGE = `
  with clock as (
    select (extract(epoch from statement_timestamp()) * 1000)::bigint as now
  ), asked as (
    select key, cost, allowed, clock.now + duration as expire, clock.now
    from clock, unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as asked (key, cost, allowed, duration)
  ), charged as (
    insert into rate_limits as held (key, points, expire)
    select key, cost, expire from asked where cost <= allowed order by key
    on conflict (key) do update set
      points = excluded.points + case when held.expire > (select now from clock) then held.points else 0 end,
      expire = case when held.expire > (select now from clock) then held.expire else excluded.expire end
    where held.expire <= (select now from clock)
      or held.points + excluded.points <= (select allowed from asked where asked.key = held.key)
    returning key, points, expire
  )
  select asked.key, charged.key is not null as charged,
    coalesce(charged.points, held.points, 0) as points,
    coalesce(charged.expire, held.expire, asked.expire) as window,
    coalesce(charged.expire, held.expire, asked.expire) - asked.now as ends_in_ms
  from asked
  left join charged on charged.key = asked.key
  left join rate_limits held on held.key = asked.key and held.expire > asked.now`;

const SWEEP_EVERY_MS = 300_000;
/** Rows that are being charged are skipped: waiting for them out of order could deadlock. */
const SWEEP = `
  delete from rate_limits where key in (
    select key from rate_limits where expire < extract(epoch from now()) * 1000 - 60000 for update skip locked
  )`;

/** Windows that something is to be given back in. Beyond them it stays charged, which keeps the limit. */
const MAX_GIVE_BACKS = 10_000;
/** Rows are locked in the order of their keys here too. A window that has ended, or was swept, gets nothing. */
const GIVE_BACK = `
  with given as (
    select * from unnest($1::text[], $2::bigint[], $3::bigint[]) as given (key, expire, points)
  ), locked as (
    select held.key, given.points
    from rate_limits held join given on given.key = held.key and given.expire = held.expire
    order by held.key for update of held
  )
  update rate_limits held set points = held.points - locked.points from locked where held.key = locked.key`;

interface GiveBack {
  bucket: string;
  window: number;
  cost: number;
}

export class PostgresWindows implements Windows {
  readonly #pool: Connection['pool'];
  readonly #onFailure: (error: unknown) => void;
  readonly #refusals = new Map<string, Refusal>();
  #waiting: Demand[] = [];
  /** By window and bucket. */
  #giveBacks = new Map<string, GiveBack>();
  #isCharging = false;
  #pausedUntil = 0;

  constructor(pool: Connection['pool'], onFailure: (error: unknown) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
    setInterval(() => void pool.query(SWEEP).catch(onFailure), SWEEP_EVERY_MS).unref();
  }

  charge(bucket: string, limit: WindowLimit, cost: number): Promise<WindowState> {
    const known = this.#findRefusal(bucket, cost);
    if (known !== undefined) return Promise.resolve(known);
    if (performance.now() < this.#pausedUntil) return Promise.reject(outOfReach());
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(outOfReach());
    const { promise, resolve, reject } = Promise.withResolvers<WindowState>();
    this.#waiting.push({ bucket, limit, cost, attempts: 0, resolve, reject });
    void this.#chargeAll();
    return promise;
  }

  giveBack(bucket: string, window: number, cost: number): void {
    const name = `${window} ${bucket}`;
    const known = this.#giveBacks.get(name);
    if (known !== undefined) known.cost += cost;
    else if (this.#giveBacks.size < MAX_GIVE_BACKS) this.#giveBacks.set(name, { bucket, window, cost });
    void this.#chargeAll();
  }

  async #chargeAll(): Promise<void> {
    if (this.#isCharging) return;
    this.#isCharging = true;
    while (this.#waiting.length > 0 || this.#giveBacks.size > 0) {
      const demands = this.#waiting;
      this.#waiting = [];
      try {
        await this.#giveAllBack();
        await this.#chargeTogether(Map.groupBy(demands, ({ bucket }) => bucket));
      } catch (error) {
        this.#pausedUntil = performance.now() + PAUSE_MS;
        this.#onFailure(error);
        // Those that came meanwhile too: they would wait as long, for the same.
        for (const demand of [...demands, ...this.#waiting]) demand.reject(outOfReach(error));
        this.#waiting = [];
      }
    }
    this.#isCharging = false;
  }

  /** Not tried again if it fails: it may have been done. */
  async #giveAllBack(): Promise<void> {
    if (this.#giveBacks.size === 0) return;
    const giveBacks = [...this.#giveBacks.values()];
    this.#giveBacks = new Map();
    await this.#pool.query(GIVE_BACK, [
      giveBacks.map(({ bucket }) => bucket),
      giveBacks.map(({ window }) => window),
      giveBacks.map(({ cost }) => cost),
    ]);
  }

  async #chargeTogether(byBucket: ReadonlyMap<string, Demand[]>): Promise<void> {
    if (byBucket.size === 0) return;
    const asked = [...byBucket].map(([bucket, demands]) => {
      const { hundredths, seconds } = (demands.at(-1) as Demand).limit;
      return { bucket, cost: sumOf(demands), allowed: hundredths, durationMs: seconds * 1000 };
    });
    const { rows } = await this.#pool.query<Row>(CHARGE, [
      asked.map(({ bucket }) => bucket),
      asked.map(({ cost }) => cost),
      asked.map(({ allowed }) => Math.min(allowed, Number.MAX_SAFE_INTEGER)),
      asked.map(({ durationMs }) => durationMs),
    ]);
    for (const row of rows) this.#settle(row, byBucket.get(row.key) ?? []);
  }

  /** All demands of a bucket were charged, or none. Then those that fit into what is left are tried again without the others. */
  #settle(row: Row, demands: readonly Demand[]): void {
    const [window, endsInMs] = [Number(row.window), Math.max(Number(row.ends_in_ms), 0)];
    const limit = (demands.at(-1) as Demand).limit.hundredths;
    const before = Number(row.points) - (row.charged ? sumOf(demands) : 0);
    let remaining = Math.max(limit - before, 0);
    if (row.charged) {
      for (const demand of demands) {
        remaining -= demand.cost;
        demand.resolve({ charged: true, remaining, window, endsInMs });
      }
      return;
    }
    const refused: Demand[] = [];
    for (const demand of demands) {
      if (demand.cost <= remaining && demand.attempts < MAX_ATTEMPTS) {
        remaining -= demand.cost;
        this.#waiting.push({ ...demand, attempts: demand.attempts + 1 });
      } else {
        refused.push(demand);
      }
    }
    if (refused.length === 0) return;
    const now = performance.now();
    const endsAt = now + endsInMs;
    if (this.#refusals.size >= MAX_REFUSALS_KNOWN) this.#refusals.clear();
    const bucket = (refused[0] as Demand).bucket;
    this.#refusals.set(bucket, { remaining, window, endsAt, knownUntil: Math.min(endsAt, now + REFUSAL_KNOWN_MS) });
    for (const demand of refused) demand.resolve({ charged: false, remaining, window, endsInMs });
  }

  #findRefusal(bucket: string, cost: number): WindowState | undefined {
    const refusal = this.#refusals.get(bucket);
    if (refusal === undefined) return undefined;
    const now = performance.now();
    if (now >= refusal.knownUntil) this.#refusals.delete(bucket);
    else if (cost > refusal.remaining) {
      const { remaining, window, endsAt } = refusal;
      return { charged: false, remaining, window, endsInMs: endsAt - now };
    }
    return undefined;
  }
}

const sumOf = (demands: readonly Demand[]): number => demands.reduce((sum, { cost }) => sum + cost, 0);

const outOfReach = (cause?: unknown) => unavailable('The shared rate limits are out of reach', 1, cause);
