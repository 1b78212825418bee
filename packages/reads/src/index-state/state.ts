/**
 * Reads from one state of the index (invariant 9): a response is one prepared statement
 * (statement.ts), or several queries in a repeatable-read, read-only transaction whose first one
 * reads the checkpoint. The latest state is kept in memory.
 */
import { BEGIN_SNAPSHOT, type Connection, isPoolExhausted, isRetryableDatabaseError } from '@kasgres/database';
import type { Network } from '@kasgres/kaspa';
import { CompiledQuery, sql } from 'kysely';
import { type Awaitable, whenKnown } from '../common/awaitable.ts';
import { EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { FairQueue } from '../fairness/fair-queue.ts';
import { type HttpError, unavailable } from '../http/errors.ts';
import { type IndexState, parseState } from './index-state.ts';
import { LatestState } from './latest-state.ts';
import { SharedReads } from './shared-reads.ts';
import { type Db, hex } from './sql.ts';
import type { AnyStatement, BoundStatement, StatementRow } from './statement.ts';

const RETRY_WITHIN_MS = 5000;

export interface Reading {
  db: Db;
  state: IndexState;
  slices: Slices;
}

type ReadIfAny<T> = (db: Db, state: IndexState | undefined, slices: Slices) => Promise<T>;

/** The result of a statement: JSON, or the name of a problem. */
export interface StatementResult {
  state: IndexState;
  problem: string | null;
  body: Buffer | null;
}

const PROGRAM = 'program';

/** These queries are planned for their parameters, unlike statements (database.ts). */
const BEGIN = sql.raw(`${BEGIN_SNAPSHOT}; set local plan_cache_mode = force_custom_plan`);
const END = sql`rollback`;

/**
 * Has a row without a state if the one in memory is still current, which is usual; no row while
 * nothing is indexed.
 */
const STATE_UNLESS_KNOWN = {
  name: 'state unless known',
  text: `
    select case when (checkpoint.version, meta.created_at)
      is distinct from ($1::bigint, $2::timestamptz) then index_state()::text end as state
    from checkpoint cross join meta`,
};

export class IndexReader {
  readonly #database: Pick<Connection, 'pool' | 'kysely'>;
  readonly #queue: FairQueue | undefined;
  readonly #turns: EventLoopTurns;
  readonly #reads = new SharedReads<StatementResult>({
    isFreeFor: (caller) => this.#queue?.isFreeFor(caller) ?? true,
    inTurn: (caller, read) => this.#inTurn(caller, read),
    execute: (statement, requests) => this.#execute(statement, requests),
  });
  readonly #latest = new LatestState(() => this.#inTurn(PROGRAM, () => this.#readState()));

  /** @param queue has as many slots as there are connections; without it, reads start at once */
  constructor(database: Pick<Connection, 'pool' | 'kysely'>, turns = new EventLoopTurns(), queue?: FairQueue) {
    this.#database = database;
    this.#queue = queue;
    this.#turns = turns;
  }

  /**
   * Returns the network of this database, which never changes.
   * @throws HttpError 503 while nothing is indexed
   */
  async getNetwork(): Promise<Network> {
    return (this.#latest.last ?? (await this.getState())).network;
  }

  /**
   * Returns the current state from memory (latest-state.ts).
   * @throws HttpError 503 while nothing is indexed
   */
  getState(): Awaitable<IndexState> {
    return whenKnown(this.#latest.get(), (state) => state ?? refuseEmptyIndex(this.#database.kysely));
  }

  /**
   * Returns a state for what never changes after the first catch-up: the network, and that the
   * catch-up has finished.
   * @throws HttpError 503 while nothing is indexed
   */
  getSettledState(): Awaitable<IndexState> {
    const { last } = this.#latest;
    return last === undefined || last.firstCatchUp ? this.getState() : last;
  }

  /**
   * Runs a statement. If the database interrupts it, it is retried on the state at that time.
   * @param caller takes turns with others
   * @throws HttpError 503 while nothing is indexed
   */
  run(bound: BoundStatement<unknown>, caller = PROGRAM): Promise<StatementResult> {
    return this.#reads.run(bound, caller);
  }

  /**
   * Runs all queries of one response on one state. If the database interrupts them, they are
   * retried on the state at that time.
   * @param caller takes turns with others
   * @throws HttpError 503 while nothing is indexed
   */
  read<T>(read: (reading: Reading) => Promise<T>, caller = PROGRAM): Promise<T> {
    return this.readIfAny(
      async (db, state, slices) => read({ db, state: state ?? (await refuseEmptyIndex(db)), slices }),
      caller,
    );
  }

  /** Works like `read`, but also while nothing is indexed: `state` is undefined then. */
  readIfAny<T>(read: ReadIfAny<T>, caller = PROGRAM): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const readOnce = (): Promise<void> =>
      this.#database.kysely.connection().execute(async (db) => {
        const readAt = performance.now();
        try {
          await BEGIN.execute(db);
          const state = await findState(db);
          // Otherwise a later response from memory could have an earlier state.
          this.#latest.observe(state, readAt);
          // The response does not wait for the end of the transaction, but the connection does.
          resolve(await read(db, state, new Slices(this.#turns, caller)));
        } finally {
          // Nothing was written. Also a cancelled BEGIN leaves a transaction, in which every later
          // query on the connection would fail. A connection that is lost needs no end.
          await END.execute(db).catch(() => undefined);
        }
      });
    this.#inTurn(caller, readOnce).catch(reject);
    return promise;
  }

  async #execute(statement: AnyStatement, requests: readonly object[]): Promise<StatementResult[]> {
    const { last } = this.#latest;
    const query = { ...statement.queryOf(requests, last?.version ?? null), binary: true };
    const readAt = performance.now();
    const { rows } = await this.#database.pool.query<StatementRow>(query);
    const [first] = rows;
    if (first === undefined) return refuseEmptyIndex(this.#database.kysely);
    const state = first.state === null ? last : parseState(first.state);
    this.#latest.observe(state, readAt);
    return rows.map(({ problem, body }) => ({ state: state as IndexState, problem, body }));
  }

  async #readState(): Promise<IndexState | undefined> {
    const { last } = this.#latest;
    const values = [last?.version ?? null, last?.begunAt ?? null];
    const { rows } = await this.#database.pool.query<{ state: string | null }>({ ...STATE_UNLESS_KNOWN, values });
    const [row] = rows;
    if (row === undefined) return undefined;
    return row.state === null ? last : parseState(row.state);
  }

  async #inTurn<T>(caller: string, readOnce: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const run = () => (this.#queue === undefined ? readOnce() : this.#queue.run(caller, readOnce));
    try {
      return await run();
    } catch (error) {
      // A replica cancels reads that conflict with replay, or closes their connection between two
      // statements. Nothing has been sent yet.
      const isInterrupted = isRetryableDatabaseError(error) && !isPoolExhausted(error);
      if (!isInterrupted || performance.now() - startedAt > RETRY_WITHIN_MS) throw error;
      return await run();
    }
  }
}

/** Runs a statement within a reading. Returns undefined if it names a problem. */
export async function runWithin<Response>(
  { db, state }: Reading,
  { statement, parameters }: BoundStatement<Response>,
): Promise<Response | undefined> {
  const { text, values } = statement.queryOf([parameters], state.version);
  return await findBody<Response>(db, text, values);
}

/** Like `runWithin`, without parsing the JSON of the body. */
export async function runForJson(
  { db, state }: Reading,
  { statement, parameters }: BoundStatement<unknown>,
): Promise<Buffer | undefined> {
  const { text, values } = statement.queryOf([parameters], state.version);
  const body = await findBody<string>(db, `select body::text as body from (${text}) content`, values);
  return body === undefined ? undefined : Buffer.from(body);
}

async function findBody<Body>(db: Db, text: string, values: unknown[]): Promise<Body | undefined> {
  const { rows } = await db.executeQuery<{ body: Body | null }>(CompiledQuery.raw(text, values));
  return rows[0]?.body ?? undefined;
}

async function findState(db: Db): Promise<IndexState | undefined> {
  const { rows } = await sql<{ state: string | null }>`select index_state()::text as state`.execute(db);
  const json = rows[0]?.state;
  return json === null || json === undefined ? undefined : parseState(json);
}

/** @throws HttpError 503 that says what the indexer is doing */
async function refuseEmptyIndex(db: Db): Promise<never> {
  const load = await findUtxoSetLoad(db);
  const reason =
    load && `: the UTXO set of the pruning point ${load.blockHash} is being loaded, ${load.utxos} UTXOs so far`;
  throw unavailable(`Nothing is indexed yet${reason ?? ''}`, 5);
}

/**
 * Refuses operations on data that is complete only after the first catch-up: UTXOs, balances, the
 * supply, acceptance.
 * @throws HttpError 503 with the progress of the first catch-up
 */
export function requireCaughtUp(state: IndexState): void {
  if (state.firstCatchUp) throw catchingUp(state);
}

/** Makes the 503 of the first catch-up. */
export function catchingUp({ secondsLeft, sinkBlueScore, targetBlueScore }: IndexState): HttpError {
  const left = secondsLeft === null ? '' : `, about ${secondsLeft} seconds left`;
  return unavailable(
    `The first catch-up has not finished: it is at blue score ${sinkBlueScore} of ${targetBlueScore}${left}`,
    Math.min(Math.max(secondsLeft ?? 30, 1), 3600),
  );
}

/** Returns whether the database is a standby, on which nothing can be written or listened to. */
export async function isStandby(db: Db): Promise<boolean> {
  const { rows } = await sql<{ is_standby: boolean }>`select pg_is_in_recovery() as is_standby`.execute(db);
  return rows[0]?.is_standby === true;
}

/**
 * Returns the seconds by which the database is behind its primary, or null if it is no replica.
 *
 * The age of the last replayed commit is not the lag, since it grows while the primary writes
 * nothing: a replica that streams and has replayed everything it received is not behind. A replica
 * that does not stream cannot know what it is missing, and one that has replayed nothing since it
 * was started may be missing all of that time.
 */
export async function findReplicaLag(db: Db): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    select case
      when not pg_is_in_recovery() then null
      when pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn()
        and exists (select from pg_stat_wal_receiver) then 0
      else greatest(0, extract(epoch from
        clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())))
    end::float8 as seconds`.execute(db);
  return rows[0]?.seconds ?? null;
}

export interface UtxoSetLoad {
  blockHash: string;
  utxos: bigint;
}

/**
 * Returns undefined while no set is being loaded, and always on a replica, where unlogged tables
 * cannot be read.
 */
export async function findUtxoSetLoad(db: Db): Promise<UtxoSetLoad | undefined> {
  if (await isStandby(db)) return undefined;
  const row = await db
    .selectFrom('utxo_set_load')
    .select([hex('block_hash').as('hash'), 'utxos'])
    .executeTakeFirst();
  return row && { blockHash: row.hash, utxos: row.utxos };
}
